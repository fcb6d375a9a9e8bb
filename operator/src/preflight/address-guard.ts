// Where the operator connects to for a manifest: public endpoints, and those that its administrator named. Judged where a
// name is resolved, and the connection is made to the addresses that were judged: DNS cannot slip in another one later.

import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { FailureError } from '@llmservice/crds';
import { matchesGlob } from '../resource/globs.js';
import { isHttpUrl } from '../resource/http-url.js';
import { embeddedIPv4, isIn, kindOf, rangesOf, translated, type Ranges } from './address-ranges.js';

export interface EndpointRules {
  /** Hosts (`*` is one label, `**` any) and CIDRs in addition to what is public. */
  readonly allowed: readonly string[];
  /** CIDRs, and addresses, that a name does not lead to because it is public: the cluster's own. */
  readonly refused: readonly string[];
}

/** Of a person who asks from a machine of his own. */
export const anyEndpoint: EndpointRules = { allowed: ['**', '0.0.0.0/0', '::/0'], refused: [] };

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;
/** As sockets take it. */
export type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void;

const isRange = (text: string): boolean => isIP(text.split('/')[0] ?? '') !== 0;

export class AddressGuard {
  private readonly hosts: readonly string[];
  private readonly allowed: Ranges;
  private readonly refused: Ranges;

  /** @throws RangeError for a range that is none */
  constructor({ allowed, refused }: EndpointRules) {
    this.hosts = allowed.filter((text) => !isRange(text)).map((text) => text.toLowerCase());
    this.allowed = rangesOf(allowed.filter(isRange));
    this.refused = rangesOf(refused);
  }

  /**
   * The look-up for connections to an endpoint. An address in the URL itself never meets a look-up: it is judged here.
   * @param endpoint null: of AWS
   * @throws FailureError InvalidSpec
   */
  lookupFor(endpoint: string | null): Lookup {
    const field = 'spec.model.s3.endpoint';
    const host = endpoint === null ? null : hostOf(field, endpoint);
    const isNamed = host !== null && this.isNamed(host);
    if (host !== null && isIP(host) !== 0) this.check(field, host, isNamed);
    return this.lookup(field, () => isNamed);
  }

  /**
   * The same for an endpoint whose answers lead on to other hosts: each is judged by its own name.
   * @throws FailureError InvalidSpec
   */
  hostsOf(
    field: string,
    endpoint: string,
  ): { readonly lookup: Lookup; readonly checkHost: (url: URL) => void } {
    hostOf(field, endpoint);
    return {
      lookup: this.lookup(field, (hostname) => this.isNamed(hostname)),
      checkHost: (url) => {
        const host = hostOf(field, url.href);
        if (isIP(host) !== 0) this.check(field, host, this.isNamed(host));
      },
    };
  }

  private isNamed(host: string): boolean {
    return this.hosts.some((pattern) => matchesGlob(pattern, host, '.'));
  }

  private lookup(field: string, isNamed: (hostname: string) => boolean): Lookup {
    return (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) {
          callback(error, []);
          return;
        }
        try {
          for (const { address } of addresses) this.check(field, address, isNamed(hostname));
        } catch (refusal) {
          callback(refusal as FailureError, []);
          return;
        }
        const [first] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      });
    };
  }

  /** @param isNamed its host is one of those allowed @throws FailureError InvalidSpec */
  private check(field: string, address: string, isNamed: boolean): void {
    const kind = kindOf(address);
    if (kind === 'forbidden') {
      throw refusal(
        field,
        address,
        'link-local addresses and those of cloud metadata are never connected to',
      );
    }
    if (isNamed || isIn(this.allowed, translated(address))) return;
    const inner = embeddedIPv4(address);
    if (isIn(this.refused, address) || (inner !== null && isIn(this.refused, inner))) {
      throw refusal(field, address, `which is the cluster's own. ${remedy}`);
    }
    if (kind === 'internal') throw refusal(field, address, `which is not public. ${remedy}`);
  }
}

const remedy =
  'Have the administrator name its host or range in endpoints.allowed of the operator’s chart (--allow-endpoint)';

/** @throws FailureError InvalidSpec */
function hostOf(field: string, endpoint: string): string {
  if (!isHttpUrl(endpoint)) {
    throw new FailureError(
      'InvalidSpec',
      `${field} is not an http or https URL: ${JSON.stringify(endpoint)}`,
    );
  }
  return new URL(endpoint).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function refusal(field: string, address: string, why: string): FailureError {
  return new FailureError('InvalidSpec', `${field} leads to ${address}: ${why}`);
}
