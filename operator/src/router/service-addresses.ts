// Addresses of Services, looked up once in a while: each request has a connection of its own, so that kube-proxy spreads
// requests over the pods that are ready now, and a name server must not be asked for each.

import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** A Service keeps its address for as long as it is there. */
const keptMs = 5_000;
/** Of names: the table of routes has no more. */
const maxNames = 2_000;

interface Found {
  readonly addresses: readonly LookupAddress[];
  /** By a monotonic clock. */
  readonly until: number;
}

export class ServiceAddresses {
  private readonly found = new Map<string, Found>();

  /** For sockets. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const kept = this.found.get(hostname);
    const give = (addresses: readonly LookupAddress[]): void => {
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    };
    // As Node does: never before who asked continues.
    if (kept !== undefined && kept.until > performance.now()) {
      process.nextTick(give, kept.addresses);
      return;
    }
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      if (this.found.size >= maxNames) this.found.clear();
      this.found.set(hostname, { addresses, until: performance.now() + keptMs });
      give(addresses);
    });
  };
}
