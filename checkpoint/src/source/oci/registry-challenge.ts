// How a registry says that a request is to be authorized (WWW-Authenticate), and the token server that it may name:
// https://distribution.github.io/distribution/spec/auth/token/.

import { StoreHttpError } from '../http/http-client.js';

export type Challenge =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string | null };

/** Null: it asks for nothing that is known here. */
export function challengeOf(header: string | null): Challenge | null {
  const bearer = /\bBearer\s+(.*)$/i.exec(header ?? '')?.[1];
  if (bearer !== undefined) {
    const values = new Map(
      [...bearer.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name.toLowerCase(),
        value,
      ]),
    );
    const realm = values.get('realm');
    if (realm !== undefined) return { scheme: 'bearer', realm, service: values.get('service') ?? null };
  }
  return /^\s*Basic\b/i.test(header ?? '') ? { scheme: 'basic' } : null;
}

/** Of a token that may read one repository, whatever else the registry would have asked for. */
export function tokenUrl(challenge: Challenge & { readonly scheme: 'bearer' }, repository: string): URL {
  let url: URL;
  try {
    url = new URL(challenge.realm);
  } catch {
    throw new StoreHttpError('InvalidRealm', null, 'the registry names no URL of a token server');
  }
  if (challenge.service !== null) url.searchParams.set('service', challenge.service);
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
