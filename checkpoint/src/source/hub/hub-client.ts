// Requests to a hub of models: the token is kept from all but the hub, errors are as its table reads them.

import {
  bytesOf,
  followRedirects,
  request,
  storageFailure,
  StoreHttpError,
  type Answer,
  type Fetch,
  type Got,
} from '../http/http-client.js';

export interface HubAccess {
  /** Of the server, without a slash at its end. */
  readonly endpoint: string;
  /** Null: requests name nobody. */
  readonly token: string | null;
  readonly fetch: Fetch;
}

export interface HubFile extends Got {
  /** As the hub names the content; null: it does not. */
  readonly etag: string | null;
}

/** Of a page of a listing, which has at most 1,000 entries. */
const maxJsonBytes = 8 * 1024 * 1024;

export class HubClient {
  readonly origin: string;

  /** @param signal ends requests; a body that has begun is its reader's to end */
  constructor(
    private readonly access: HubAccess,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.origin = new URL(access.endpoint).origin;
  }

  url(path: string): URL {
    return new URL(`${this.access.endpoint}/${path}`);
  }

  /** @returns next: the page behind this one; null where this is the last */
  async json(url: URL): Promise<{ readonly json: unknown; readonly next: URL | null }> {
    const { answer, body } = await this.get(url, { accept: 'application/json' });
    const text = new TextDecoder().decode(await bytesOf(body, maxJsonBytes));
    const link = /<([^>]+)>;\s*rel="?next"?/.exec(answer.headers.get('link') ?? '')?.[1];
    const next = link === undefined ? null : new URL(link, url);
    // The token goes along with it.
    if (next !== null && next.origin !== this.origin)
      throw new StoreHttpError('ForeignPage', null, `${url.href} continues at ${next.host}`);
    try {
      return { json: JSON.parse(text) as unknown, next };
    } catch {
      throw new StoreHttpError('NoJson', null, `${url.href} answered with no JSON`);
    }
  }

  async get(from: URL, headers: Record<string, string>): Promise<HubFile> {
    const named: { etag: string | null } = { etag: null };
    const ask = async (url: URL): Promise<Answer> => {
      const answer = await this.request(url, headers);
      // Storage behind the hub has names of its own for the same contents.
      if (url.origin === this.origin)
        named.etag = answer.headers.get('x-linked-etag') ?? named.etag ?? answer.headers.get('etag');
      return answer;
    };
    const got = await followRedirects(from, ask, (url, answer) => this.failure(url, answer));
    return { ...got, etag: named.etag === null ? null : unquoted(named.etag) };
  }

  request(url: URL, headers: Record<string, string>): Promise<Answer> {
    const { token, fetch } = this.access;
    // Storage behind the hub must not see it.
    const isOwn = url.origin === this.origin && token !== null;
    const all = { ...headers, ...(isOwn ? { authorization: `Bearer ${token}` } : {}) };
    return request(fetch, url, all, this.signal);
  }

  private async failure(url: URL, answer: Answer): Promise<StoreHttpError> {
    await answer.body?.cancel();
    const { status, headers } = answer;
    if (url.origin !== this.origin) return storageFailure(url, answer);
    // Asked by nobody, a hub says neither that a repository is private nor that there is none.
    const unnamed = status === 401 && this.access.token === null ? 'RepoNotFound' : '';
    return new StoreHttpError(
      headers.get('x-error-code') ?? unnamed,
      status,
      headers.get('x-error-message') ?? '',
    );
  }
}

/** What the tree calls the file: its SHA-256, or its name in git. */
function unquoted(etag: string): string {
  return etag.replace(/^W\//, '').replaceAll('"', '');
}
