// How a registry says that a request is to be authorized (WWW-Authenticate), and the token server that it may name:
// https://distribution.github.io/distribution/spec/auth/token/.

import { StoreHttpError } from '../http/http-client.js';

export type Challenge =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string | null };

/** `NAME="VALUE"` or `NAME=VALUE` of a scheme, or the scheme that begins a challenge. */
const part = /([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))|([\w-]+)/g;

/** Of several challenges one with a token counts. Null: it asks for nothing that is known here. */
export function challengeOf(header: string | null): Challenge | null {
  const challenges: { readonly scheme: string; readonly values: Map<string, string> }[] = [];
  for (const [, name, quoted, plain, scheme] of (header ?? '').matchAll(part)) {
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), values: new Map() });
    const values = challenges.at(-1)?.values;
    const key = name?.toLowerCase();
    if (key !== undefined && values?.has(key) === false) values.set(key, quoted ?? plain ?? '');
  }
  for (const { scheme, values } of challenges) {
    const realm = values.get('realm');
    if (scheme === 'bearer' && realm !== undefined)
      return { scheme, realm, service: values.get('service') ?? null };
  }
  return challenges.some(({ scheme }) => scheme === 'basic') ? { scheme: 'basic' } : null;
}

/**
 * Of a token that may read one repository, whatever else the registry would have asked for. Without TLS, credentials go to no
 * host but the registry's own.
 * @param origin of the registry
 */
export function tokenUrl(
  { realm, service }: Challenge & { readonly scheme: 'bearer' },
  repository: string,
  origin: string,
): URL {
  const url = URL.canParse(realm) ? new URL(realm) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isHttp || url.username !== '' || url.password !== '')
    throw new StoreHttpError('InvalidRealm', null, 'the registry names no URL of a token server');
  const registry = new URL(origin);
  const isOwn = registry.protocol === 'http:' && url.hostname === registry.hostname;
  if (url.protocol !== 'https:' && !isOwn)
    throw new StoreHttpError('InsecureRedirect', null, `the token server ${url.host} is asked without TLS`);
  if (service !== null) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${repository}:pull`);
  return url;
}

export function tokenIn(answer: Buffer, url: URL): string {
  const nothing = new StoreHttpError('NoToken', null, `the token server ${url.host} gave no token`);
  try {
    const { token, access_token: same } = JSON.parse(answer.toString('utf8')) as Record<string, unknown>;
    const given = typeof token === 'string' && token !== '' ? token : same;
    // It becomes a header.
    if (typeof given === 'string' && /^[\x21-\x7e]+$/.test(given)) return given;
  } catch {
    throw nothing;
  }
  throw nothing;
}
