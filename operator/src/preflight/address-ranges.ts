// What an IP address is to a manifest's endpoint. IPv6 forms that carry an IPv4 address are judged by that one too.
// Sources: IANA's registries of special-purpose addresses (RFC 6890); the clouds' pages on their metadata services.

import { BlockList, isIP, isIPv4 } from 'node:net';

/** Apart, since a list of both takes IPv4 addresses for the IPv6 ones that they are mapped to. */
export interface Ranges {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

export type AddressKind =
  /** Where credentials of the node are served, or what is no machine's address: never connected to. */
  | 'forbidden'
  /** Not reachable from everywhere: of this machine, this cluster or this network. */
  | 'internal'
  | 'public';

/** @throws RangeError for what is neither an address nor a CIDR */
export function rangesOf(texts: readonly string[]): Ranges {
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) {
    const [address = '', bits, ...rest] = text.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const longest = family === 'ipv4' ? 32 : 128;
    const prefix = bits === undefined ? longest : Number(bits);
    const isRange = /^\d+$/.test(bits ?? '0') && prefix <= longest && rest.length === 0;
    if (isIP(address) === 0 || !isRange) throw new RangeError(`${text} is no address or CIDR`);
    ranges[family].addSubnet(address, prefix, family);
  }
  return ranges;
}

/** An address or a CIDR. */
export function isRange(text: string): boolean {
  try {
    rangesOf([text]);
    return true;
  } catch {
    return false;
  }
}

const forbidden = rangesOf([
  // Link-local: metadata of AWS, Google, Azure, Oracle, OpenStack and others, credentials of ECS and EKS.
  ...['169.254.0.0/16', 'fe80::/10'],
  // Azure's wire server; Oracle's and OpenStack's older one; Alibaba.
  ...['168.63.129.16', '192.0.0.192', '100.100.100.200'],
  // AWS (metadata, EKS Pod Identity), Google, Oracle.
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe'],
  // Unspecified, which a machine takes for itself; multicast; broadcast and what is reserved.
  ...['0.0.0.0/8', '::', '224.0.0.0/4', 'ff00::/8', '240.0.0.0/4'],
]);

const internal = rangesOf([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'],
  // Protocol assignments, documentation, benchmarks, the relays of 6to4.
  ...['192.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '198.18.0.0/15', '192.88.99.0/24'],
  // All that is no global unicast address: loopback, unique local, site-local, translated (64:ff9b:1::/48 too).
  ...['::/3', '4000::/2', '8000::/1'],
  // Teredo and other protocols (2001::/23), documentation, 6to4: tunnels whose end is an address within.
  ...['2001::/23', '2001:db8::/32', '3fff::/20', '2002::/16'],
]);

/** @param address as the resolver gives it */
export function kindOf(address: string): AddressKind {
  const inner = embeddedIPv4(address);
  if (isIn(forbidden, address) || (inner !== null && isIn(forbidden, inner))) return 'forbidden';
  // A tunnel is internal whatever it leads to.
  return isIn(internal, translated(address)) ? 'internal' : 'public';
}

/** What a mapping or a translator leads to is the IPv4 address itself. */
export function translated(address: string): string {
  return (isTranslated(address) ? embeddedIPv4(address) : null) ?? address;
}

export function isIn(ranges: Ranges, address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  return family === 4 ? ranges.ipv4.check(address, 'ipv4') : ranges.ipv6.check(address, 'ipv6');
}

/** Mapped (::ffff:0:0/96) and NAT64 (64:ff9b::/96). */
function isTranslated(address: string): boolean {
  const head = groupsOf(address)?.slice(0, 6).join(':');
  return head === '0:0:0:0:0:65535' || head === '100:65435:0:0:0:0';
}

/** The IPv4 address in a mapped, compatible, NAT64 (both), 6to4 or Teredo address; null: none. */
export function embeddedIPv4(address: string): string | null {
  const groups = groupsOf(address);
  if (groups === null) return null;
  const [g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups;
  const dotted = (high: number, low: number): string =>
    [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const zeros = (...some: number[]): boolean => some.every((group) => group === 0);
  // Below ::1:0 are :: and ::1, which carry none.
  if (isTranslated(address) || (zeros(g0, g1, g2, g3, g4, g5) && g6 !== 0)) return dotted(g6, g7);
  // RFC 6052: of a /48, the bits 48 to 63 and 72 to 87.
  if (g0 === 0x64 && g1 === 0xff9b && g2 === 1) {
    return zeros(g3, g4, g5) ? dotted(g6, g7) : dotted(g3, ((g4 & 255) << 8) | (g5 >> 8));
  }
  if (g0 === 0x2002) return dotted(g1, g2);
  // RFC 4380: the client's address, inverted.
  if (g0 === 0x2001 && g1 === 0) return dotted(g6 ^ 0xffff, g7 ^ 0xffff);
  return null;
}

/** The eight groups of an IPv6 address; null for what is none. */
function groupsOf(address: string): number[] | null {
  if (isIP(address) !== 6) return null;
  // The URL parser writes all forms as one, the dotted end too; a zone is none of the address.
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const read = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => parseInt(group, 16));
  const first = read(head);
  const last = read(tail);
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
