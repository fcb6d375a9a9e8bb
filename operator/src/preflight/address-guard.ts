// Refuses link-local addresses and others where cloud machines keep the credentials of the node: an endpoint in a
// manifest must not make the operator ask for them. Checked where a name is resolved, so that DNS cannot slip one in later.

import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { FailureError } from '@llmservice/crds';
import { isHttpUrl } from '../spec/http-url.js';

const refusedAddresses = new BlockList();
refusedAddresses.addSubnet('169.254.0.0', 16, 'ipv4');
refusedAddresses.addSubnet('fe80::', 10, 'ipv6');
// The first behind NAT64; then where AWS and Alibaba tell credentials, which are none of either.
refusedAddresses.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
refusedAddresses.addAddress('fd00:ec2::254', 'ipv6');
refusedAddresses.addAddress('100.100.100.200', 'ipv4');

export function isRefusedAddress(address: string): boolean {
  const family = isIP(address);
  // BlockList sees ::ffff:169.254.0.1 as the IPv4 address that it is.
  return family !== 0 && refusedAddresses.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** An address in the URL itself never meets the look-up below. @throws FailureError InvalidSpec */
export function checkEndpointHost(endpoint: string): void {
  if (!isHttpUrl(endpoint)) {
    throw new FailureError(
      'InvalidSpec',
      `the S3 endpoint is not an http or https URL: ${JSON.stringify(endpoint)}`,
    );
  }
  const host = new URL(endpoint).hostname.replace(/^\[|\]$/g, '');
  if (isRefusedAddress(host)) throw refused(host);
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** A `lookup` for sockets that fails where any address of the name is refused. */
export function guardedLookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const bad = error === null ? addresses.find(({ address }) => isRefusedAddress(address)) : undefined;
    const [first] = error === null ? addresses : [];
    if (error !== null) callback(error, []);
    else if (bad !== undefined) callback(refused(bad.address), []);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family);
  });
}

function refused(address: string): FailureError {
  return new FailureError(
    'InvalidSpec',
    `spec.model.s3.endpoint leads to ${address}: link-local addresses and those of cloud metadata are refused`,
  );
}
