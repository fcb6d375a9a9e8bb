// One folder of a repository of the Hugging Face Hub, or of a server with the same API, as a folder of files. The revision is
// resolved to a commit once: all files are of that one, whatever is pushed meanwhile.

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { pathOf, poolingFile, poolingFolder } from '../../config/nested-files.js';
import type { ByteSource, FileVersion, OpenRange } from '../byte-source.js';
import type { ListedFile } from '../checkpoint-pin.js';
import { readRangeAnswer } from '../range-answer.js';
import type { HubPlace } from './hub-uri.js';

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

interface HubBounds {
  /** Later pages of a listing are left out. */
  readonly maxPages?: number;
  /** Ends requests; a body that has begun is its reader's to end. */
  readonly signal?: AbortSignal;
}

/** As the API lists a tree. */
interface TreeEntry {
  readonly type: string;
  readonly path: string;
  readonly size: number;
  /** Of git. */
  readonly oid: string;
  /** A file outside of git, with its SHA-256. */
  readonly lfs?: { readonly oid: string; readonly size: number };
}

interface Described extends ListedFile {
  readonly version: string;
  readonly sha256: string | null;
}

const firstByteTimeoutMs = 30_000;
const maxRedirects = 5;
/** Of a page of a listing, which has at most 1,000 entries. */
const maxJsonBytes = 8 * 1024 * 1024;

export class HubByteSource implements ByteSource {
  readonly kind = 'hub';
  readonly uri: string;
  private readonly origin: string;
  private resolved: string | null = null;
  private described: readonly Described[] | null = null;

  constructor(
    private readonly access: HubAccess,
    private readonly place: HubPlace,
    private readonly bounds: HubBounds = {},
  ) {
    const { repository, revision, folder } = place;
    this.uri = `hf://${repository}@${encodeURIComponent(revision)}/${folder}`;
    this.origin = new URL(access.endpoint).origin;
  }

  async list(): Promise<ListedFile[]> {
    const { folder } = this.place;
    const entries = await this.tree(folder);
    const files = filesOf(entries, folder);
    if (entries.some(({ type, path }) => type === 'directory' && path === folder + poolingFolder)) {
      const pooling = `${folder}${poolingFolder}/`;
      const [found] = filesOf(await this.tree(pooling), pooling).filter(({ name }) => name === 'config.json');
      if (found !== undefined) files.push({ ...found, name: poolingFile });
    }
    this.described = files;
    return files.map(({ name, bytes, version }) => ({ name, bytes, version }));
  }

  async version(name: string): Promise<FileVersion> {
    if (this.described === null) await this.list();
    const file = this.described?.find((each) => each.name === name);
    if (file === undefined) throw new HubError('EntryNotFound', 404, `${this.uri} has no file ${name}`);
    const { bytes, version, sha256 } = file;
    return {
      name,
      bytes,
      etag: version,
      digest: sha256 === null ? null : { algorithm: 'sha256', hex: sha256 },
    };
  }

  async open(name: string, begin: number, end: number): Promise<OpenRange> {
    const { repository, folder } = this.place;
    const path = pathInUrl(folder + pathOf(name));
    const url = this.url(`${repository}/resolve/${await this.commit()}/${path}`);
    const range = `bytes=${String(begin)}-${String(end - 1)}`;
    const { answer, body, etag } = await this.get(url, { range, 'accept-encoding': 'identity' });
    const length = answer.headers.get('content-length');
    const contentRange = answer.headers.get('content-range') ?? undefined;
    return {
      ...readRangeAnswer(answer.status, contentRange, length === null ? undefined : Number(length)),
      etag,
      body: Readable.fromWeb(body),
    };
  }

  /** The commit that the revision is at. */
  private async commit(): Promise<string> {
    const { repository, revision } = this.place;
    if (this.resolved !== null) return this.resolved;
    if (/^[0-9a-f]{40}$/.test(revision)) return (this.resolved = revision);
    const url = this.url(`api/models/${repository}/revision/${encodeURIComponent(revision)}?expand[]=sha`);
    const { json } = await this.json(url);
    const { sha } = json as { readonly sha?: unknown };
    if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha))
      throw new HubError('NoCommit', null, `${url.href} names no commit`);
    return (this.resolved = sha);
  }

  private async tree(folder: string): Promise<TreeEntry[]> {
    const path = folder === '' ? '' : `/${pathInUrl(folder.slice(0, -1))}`;
    let url: URL | null = this.url(
      `api/models/${this.place.repository}/tree/${await this.commit()}${path}?recursive=false`,
    );
    const entries: TreeEntry[] = [];
    for (let pages = 0; url !== null && pages < (this.bounds.maxPages ?? Infinity); pages += 1) {
      const { json, next } = await this.json(url);
      if (!Array.isArray(json)) throw new HubError('NoListing', null, `${url.href} lists nothing`);
      entries.push(...(json as TreeEntry[]));
      url = next;
    }
    return entries;
  }

  /** @returns next: the page behind this one; null where this is the last */
  private async json(url: URL): Promise<{ readonly json: unknown; readonly next: URL | null }> {
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
  private async get(
    from: URL,
    headers: Record<string, string>,
  ): Promise<{
    readonly answer: Answer;
    readonly body: ReadableStream<Uint8Array>;
    /** As the hub names the content. */
    readonly etag: string | null;
  }> {
    let url = from;
    let etag: string | null = null;
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.request(url, headers);
      // Storage behind the hub has names of its own for the same contents.
      if (url.origin === this.origin) etag = etagOf(answer.headers) ?? etag;
      const isRedirect = answer.status >= 300 && answer.status < 400;
      const location = isRedirect ? answer.headers.get('location') : null;
      if (location === null) {
        if (!answer.ok || answer.body === null) throw await this.failure(url, answer);
        return { answer, body: answer.body, etag };
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

  private async request(url: URL, headers: Record<string, string>): Promise<Answer> {
    const { token, fetch } = this.access;
    const { signal } = this.bounds;
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
    const status = answer.status;
    // What storage behind the hub refuses says nothing of the repository: the next request gets another address of it.
    if (url.origin !== this.origin)
      return new HubError(`Storage${String(status)}`, null, `${url.host} answered with ${String(status)}`);
    return new HubError(
      answer.headers.get('x-error-code') ?? '',
      status,
      answer.headers.get('x-error-message') ?? '',
    );
  }

  private url(path: string): URL {
    return new URL(`${this.access.endpoint}/${path}`);
  }
}

/** As `readHubError` takes it. */
class HubError extends Error {
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

function filesOf(entries: readonly TreeEntry[], folder: string): Described[] {
  return entries
    .filter(({ type }) => type === 'file')
    .map(({ path, size, oid, lfs }) => ({
      name: path.slice(folder.length),
      bytes: lfs?.size ?? size,
      version: lfs?.oid ?? oid,
      sha256: lfs?.oid ?? null,
    }));
}

/** What the tree calls the file: its SHA-256, or its name in git. */
function etagOf(headers: Answer['headers']): string | null {
  const etag = headers.get('x-linked-etag') ?? headers.get('etag');
  return etag === null ? null : etag.replace(/^W\//, '').replaceAll('"', '');
}

function pathInUrl(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
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
