// Addresses of the prefill pods, as names resolve: that of a headless Service has the address of every pod that is ready.
// They are looked up again and again beside the requests, none of which waits for a name server.

import { lookup } from 'node:dns/promises';

type Lookup = (host: string) => Promise<readonly string[]>;

const refreshMs = 5_000;

/** Codes with which a name server says that there are none. */
const nobody = ['ENOTFOUND', 'ENODATA'];

export class PodAddresses {
  readonly #lookup: Lookup;
  readonly #byHost: Map<string, readonly string[]>;
  #timer: NodeJS.Timeout | null = null;

  constructor(hosts: readonly string[], lookUp: Lookup = lookUpAll) {
    this.#lookup = lookUp;
    this.#byHost = new Map(hosts.map((host) => [host, []]));
  }

  get all(): readonly string[] {
    return [...new Set([...this.#byHost.values()].flat())];
  }

  /** Looks them up now, and then every few seconds until `stop`. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.refresh(), refreshMs).unref();
    await this.refresh();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Where a name server does not answer, the addresses stay as they were. */
  async refresh(): Promise<void> {
    await Promise.all(
      [...this.#byHost.keys()].map(async (host) => {
        try {
          this.#byHost.set(host, await this.#lookup(host));
        } catch (error) {
          if (nobody.includes(String((error as NodeJS.ErrnoException).code))) this.#byHost.set(host, []);
        }
      }),
    );
  }
}

async function lookUpAll(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
