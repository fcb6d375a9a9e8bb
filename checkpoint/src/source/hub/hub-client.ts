// Requests to a hub of models: redirects followed host by host, the token kept from all but the hub, errors as its table
// reads them.

import type { ReadableStream } from 'node:stream/web';

export interface HubAccess {
  /** Of the server, without a slash at its end. */
  readonly endpoint: string;
  /** Null: requests name nobody. */
  readonly token: string | null;
  readonly fetch: Fetch;
}

/** What is needed of `fetch`, whose client is its user's. */
export type Fetch = (
  url: URL,
  init: {
    readonly headers: Record<string, string>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<Answer>;

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Where a file was found. */
export interface Place {
  readonly url: URL;
  /** As the hub names the content; null: it does not. */
  readonly etag: string | null;
}

export interface Got extends Place {
  readonly answer: Answer;
  readonly body: ReadableStream<Uint8Array>;
}

const firstByteTimeoutMs = 30_000;
const maxRedirects = 5;
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
    const text = await textOf(body, maxJsonBytes);
    const link = /<([^>]+)>;\s*rel="?next"?/.exec(answer.headers.get('link') ?? '')?.[1];
    const next = link === undefined ? null : new URL(link, url);
    // The token goes along with it.
    if (next !== null && next.origin !== this.origin)
      throw new HubError('ForeignPage', null, `${url.href} continues at ${next.host}`);
    try {
      return { json: JSON.parse(text) as unknown, next };
    } catch {
      throw new HubError('NoJson', null, `${url.href} answered with no JSON`);
    }
  }

  /** Follows redirects: a client that did would not say which host it goes to, nor what the hub said of the file. */
  async get(from: URL, headers: Record<string, string>): Promise<Got> {
    let url = from;
    let etag: string | null = null;
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.request(url, headers);
      // Storage behind the hub has names of its own for the same contents.
      if (url.origin === this.origin)
        etag = answer.headers.get('x-linked-etag') ?? etag ?? answer.headers.get('etag');
      const isRedirect = answer.status >= 300 && answer.status < 400;
      const location = isRedirect ? answer.headers.get('location') : null;
      if (location === null) {
        if (!answer.ok || answer.body === null) throw await this.failure(url, answer);
        return { answer, body: answer.body, url, etag: etag === null ? null : unquoted(etag) };
      }
      await answer.body?.cancel();
      if (redirects === maxRedirects)
        throw new HubError('TooManyRedirects', null, `${from.href} redirects on and on`);
      const next = new URL(location, url);
      if (url.protocol === 'https:' && next.protocol !== 'https:')
        throw new HubError(
          'InsecureRedirect',
          null,
          `${url.host} redirects to ${next.protocol}//${next.host}`,
        );
      url = next;
    }
  }

  async request(url: URL, headers: Record<string, string>): Promise<Answer> {
    const { token, fetch } = this.access;
    const { signal } = this;
    // Storage behind the hub must not see it.
    const isOwn = url.origin === this.origin && token !== null;
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), firstByteTimeoutMs);
    try {
      return await fetch(url, {
        headers: { ...headers, ...(isOwn ? { authorization: `Bearer ${token}` } : {}) },
        redirect: 'manual',
        signal: signal === undefined ? waiting.signal : AbortSignal.any([signal, waiting.signal]),
      });
    } catch (error) {
      if (!waiting.signal.aborted) throw error;
      const seconds = String(firstByteTimeoutMs / 1_000);
      throw new HubError('ETIMEDOUT', null, `${url.host} did not answer within ${seconds} s`);
    } finally {
      clearTimeout(timer);
    }
  }

  private async failure(url: URL, answer: Answer): Promise<HubError> {
    await answer.body?.cancel();
    const { status, headers } = answer;
    // What storage behind the hub refuses says nothing of the repository, but that the range is not there.
    if (url.origin !== this.origin) {
      const known = status === 416 ? status : null;
      return new HubError(`Storage${String(status)}`, known, `${url.host} answered with ${String(status)}`);
    }
    // Asked by nobody, a hub says neither that a repository is private nor that there is none.
    const unnamed = status === 401 && this.access.token === null ? 'RepoNotFound' : '';
    return new HubError(headers.get('x-error-code') ?? unnamed, status, headers.get('x-error-message') ?? '');
  }
}

/** As `readHubError` takes it. */
export class HubError extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };

  constructor(
    readonly code: string,
    status: number | null,
    message: string,
  ) {
    super(message);
    this.$metadata = status === null ? {} : { httpStatusCode: status };
  }
}

/** What the tree calls the file: its SHA-256, or its name in git. */
function unquoted(etag: string): string {
  return etag.replace(/^W\//, '').replaceAll('"', '');
}

async function textOf(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  for await (const chunk of body) {
    count += chunk.byteLength;
    if (count > maxBytes)
      throw new HubError('AnswerTooLong', null, `an answer is longer than ${String(maxBytes)} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
