// Which proxy leads to the API server: the kubeconfig's own, else that of the environment, as kubectl has it.

import { BlockList, isIP } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns its URL; null: none */
export function proxyOf(server: URL, proxyUrl: string | undefined, env: Environment): string | null {
  if (proxyUrl !== undefined && proxyUrl !== '') return proxyUrl;
  const read = (name: string): string => env[name] ?? env[name.toLowerCase()] ?? '';
  const found = read(server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (found === '' || isExempt(server, read('NO_PROXY'))) return null;
  return found.includes('://') ? found : `http://${found}`;
}

/** By Go's rules (golang.org/x/net/http/httpproxy): `*`, names with what is below them, addresses, ranges, with a port. */
function isExempt({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || isLoopback(host)) return true;
  const hostPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return noProxy.split(',').some((each) => {
    const rule = each.trim().toLowerCase();
    if (rule === '' || rule === '*') return rule === '*';
    if (rule.includes('/')) return isInRange(host, rule);
    const [, bracketed, name = bracketed, rulePort] =
      /^(?:\[(.*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(rule) ?? [];
    if (name === undefined || (rulePort !== undefined && rulePort !== hostPort)) return false;
    if (isIP(host) !== 0) return name === host;
    const bare = name.replace(/^\*?\./, '');
    return host.endsWith(`.${bare}`) || (host === bare && bare === name);
  });
}

function isLoopback(host: string): boolean {
  return isInRange(host, '127.0.0.0/8') || host === '::1';
}

function isInRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const [family, of] = [isIP(host), isIP(network)];
  const length = Number(bits);
  if (family === 0 || family !== of || bits === '' || !(length >= 0 && length <= (of === 4 ? 32 : 128)))
    return false;
  const list = new BlockList();
  list.addSubnet(network, length, of === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
