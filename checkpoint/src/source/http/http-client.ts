// Requests to stores over HTTP: redirects followed host by host, credentials kept from all but the store, bounded times and
// answers.

import type { ReadableStream } from 'node:stream/web';

/** What is needed of `fetch`, whose client is its user's. */
export type Fetch = (
  url: URL,
  init: {
    readonly headers: Record<string, string>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<Answer>;

export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

export interface Got {
  /** Of the last redirect. */
  readonly url: URL;
  readonly answer: Answer;
  readonly body: ReadableStream<Uint8Array>;
}

const firstByteTimeoutMs = 30_000;
const maxRedirects = 5;

/** As `readStoreError` takes it. */
export class StoreHttpError extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };

  constructor(
    readonly code: string,
    status: number | null,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.$metadata = status === null ? {} : { httpStatusCode: status };
  }
}

/** @param signal ends the request; a body that has begun is its reader's to end */
export async function request(
  fetch: Fetch,
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), firstByteTimeoutMs);
  try {
    return await fetch(url, {
      headers,
      redirect: 'manual',
      signal: signal === undefined ? waiting.signal : AbortSignal.any([signal, waiting.signal]),
    });
  } catch (error) {
    if (!waiting.signal.aborted) throw error;
    const seconds = String(firstByteTimeoutMs / 1_000);
    throw new StoreHttpError('ETIMEDOUT', null, `${url.host} did not answer within ${seconds} s`);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The answer that a redirect leads to. A client that followed redirects itself would not say which host it goes to.
 * @param ask the request to one host
 * @param failure of an answer that is none
 */
export async function followRedirects(
  from: URL,
  ask: (url: URL) => Promise<Answer>,
  failure: (url: URL, answer: Answer) => Promise<StoreHttpError>,
): Promise<Got> {
  let url = from;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await ask(url);
    const isRedirect = answer.status >= 300 && answer.status < 400;
    const location = isRedirect ? answer.headers.get('location') : null;
    if (location === null) {
      if (!answer.ok || answer.body === null) throw await failure(url, answer);
      return { answer, body: answer.body, url };
    }
    await answer.body?.cancel();
    if (redirects === maxRedirects)
      throw new StoreHttpError(
        'TooManyRedirects',
        null,
        `${from.origin}${from.pathname} redirects on and on`,
      );
    const next = redirectTarget(location, url);
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new StoreHttpError(
        'InsecureRedirect',
        null,
        `${url.host} redirects to ${next.protocol}//${next.host}`,
      );
    url = next;
  }
}

function redirectTarget(location: string, from: URL): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : null;
  const isHttp = to !== null && ['http:', 'https:'].includes(to.protocol);
  if (!isHttp || to.username !== '' || to.password !== '')
    throw new StoreHttpError(
      'InvalidRedirect',
      null,
      `${from.host} redirects to what is no address of a file`,
    );
  return to;
}

/** What a host to which the store leads refuses says nothing of the store, but that a range is not there. */
export function storageFailure(url: URL, { status }: Answer): StoreHttpError {
  const known = status === 416 ? status : null;
  return new StoreHttpError(`Storage${String(status)}`, known, `${url.host} answered with ${String(status)}`);
}

export async function bytesOf(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  for await (const chunk of body) {
    count += chunk.byteLength;
    if (count > maxBytes)
      throw new StoreHttpError('AnswerTooLong', null, `an answer is longer than ${String(maxBytes)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Where storage has files: the store is asked again only when it refuses. */
export class StoragePlaces {
  private readonly places = new Map<string, URL>();

  constructor(private readonly origin: string) {}

  /**
   * @param known asks the place where the file was last
   * @param fresh asks the store
   */
  async get(name: string, known: (url: URL) => Promise<Answer>, fresh: () => Promise<Got>): Promise<Got> {
    const place = this.places.get(name);
    if (place !== undefined) {
      const answer = await known(place).catch((error: unknown) => {
        // Its host may be gone for good.
        this.places.delete(name);
        throw error;
      });
      if (answer.ok && answer.body !== null) return { answer, body: answer.body, url: place };
      // What is signed ends after a while.
      await answer.body?.cancel();
      this.places.delete(name);
    }
    const got = await fresh();
    if (got.url.origin !== this.origin) this.places.set(name, got.url);
    return got;
  }
}
