// One folder of a repository of the Hugging Face Hub, or of a server with the same API, as a folder of files. The revision is
// resolved to a commit once: all files are of that one, whatever is pushed meanwhile.

import { Readable } from 'node:stream';
import { flatNameOf, nestedFilesOf, pathOf } from '../../config/nested-files.js';
import type { ByteSource, FileDigest, FileVersion, OpenRange } from '../byte-source.js';
import type { ListedFile } from '../checkpoint-pin.js';
import { readRangeAnswer } from '../range-answer.js';
import { StoragePlaces, StoreHttpError } from '../http/http-client.js';
import { HubClient, type HubAccess } from './hub-client.js';
import type { HubPlace } from './hub-uri.js';

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
  readonly digest: FileDigest | null;
}

export class HubByteSource implements ByteSource {
  readonly kind = 'hub';
  readonly uri: string;
  private readonly client: HubClient;
  private resolving: Promise<string> | null = null;
  private readonly places: StoragePlaces;
  /** What the hub calls the content of files that lie in storage. */
  private readonly etags = new Map<string, string | null>();
  private described: readonly Described[] | null = null;

  constructor(
    access: HubAccess,
    private readonly place: HubPlace,
    private readonly bounds: HubBounds = {},
  ) {
    const { repository, revision, folder } = place;
    this.uri = `hf://${repository}@${encodeURIComponent(revision)}/${folder}`;
    this.client = new HubClient(access, bounds.signal);
    this.places = new StoragePlaces(this.client.origin);
  }

  async list(): Promise<ListedFile[]> {
    const { folder } = this.place;
    const entries = await this.tree(folder);
    const files = filesOf(entries, folder);
    for (const { type, path } of entries) {
      if (type !== 'directory' || nestedFilesOf(path.slice(folder.length)).length === 0) continue;
      for (const found of filesOf(await this.tree(`${path}/`), folder)) {
        const name = flatNameOf(found.name);
        if (name !== null) files.push({ ...found, name });
      }
    }
    this.described = files;
    return files.map(({ name, bytes, version }) => ({ name, bytes, version }));
  }

  async version(name: string): Promise<FileVersion> {
    if (this.described === null) await this.list();
    const file = this.described?.find((each) => each.name === name);
    if (file === undefined) throw new StoreHttpError('EntryNotFound', 404, `${this.uri} has no file ${name}`);
    const { bytes, version, digest } = file;
    return { name, bytes, etag: version, digest };
  }

  async open(name: string, begin: number, end: number, wanted: string | null): Promise<OpenRange> {
    const { repository, folder } = this.place;
    const path = pathInUrl(folder + pathOf(name));
    const url = this.client.url(`${repository}/resolve/${await this.commit()}/${path}`);
    const range = `bytes=${String(begin)}-${String(end - 1)}`;
    const headers = { range, 'accept-encoding': 'identity' };
    const { answer, body } = await this.places.get(
      name,
      (known) => this.client.request(known, headers),
      async () => {
        const got = await this.client.get(url, headers);
        this.etags.set(name, got.etag);
        return got;
      },
    );
    const etag = this.etags.get(name) ?? null;
    const length = answer.headers.get('content-length');
    const contentRange = answer.headers.get('content-range') ?? undefined;
    return {
      ...readRangeAnswer(answer.status, contentRange, length === null ? undefined : Number(length)),
      // Of a commit, a file has one content: what a mirror calls it in other words is the one that was asked for.
      etag: etag?.length === wanted?.length ? etag : (wanted ?? etag),
      body: Readable.fromWeb(body),
    };
  }

  /** The commit that the revision is at. */
  private commit(): Promise<string> {
    this.resolving ??= this.resolve().catch((error: unknown) => {
      this.resolving = null;
      throw error;
    });
    return this.resolving;
  }

  private async resolve(): Promise<string> {
    const { repository, revision } = this.place;
    if (/^[0-9a-f]{40}$/.test(revision)) return revision;
    const url = this.client.url(
      `api/models/${repository}/revision/${encodeURIComponent(revision)}?expand[]=sha`,
    );
    const { json } = await this.client.json(url);
    const { sha } = json as { readonly sha?: unknown };
    if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha))
      throw new StoreHttpError('NoCommit', null, `${url.href} names no commit`);
    return sha;
  }

  private async tree(folder: string): Promise<TreeEntry[]> {
    const path = folder === '' ? '' : `/${pathInUrl(folder.slice(0, -1))}`;
    let url: URL | null = this.client.url(
      `api/models/${this.place.repository}/tree/${await this.commit()}${path}?recursive=false`,
    );
    const entries: TreeEntry[] = [];
    for (let pages = 0; url !== null && pages < (this.bounds.maxPages ?? Infinity); pages += 1) {
      const { json, next } = await this.client.json(url);
      if (!Array.isArray(json)) throw new StoreHttpError('NoListing', null, `${url.href} lists nothing`);
      entries.push(...(json as TreeEntry[]));
      url = next;
    }
    return entries;
  }
}

function filesOf(entries: readonly TreeEntry[], folder: string): Described[] {
  return entries
    .filter(({ type }) => type === 'file')
    .map(({ path, size, oid, lfs }) => ({
      name: path.slice(folder.length),
      bytes: lfs?.size ?? size,
      version: lfs?.oid ?? oid,
      digest: lfs === undefined ? gitDigest(oid, size) : { algorithm: 'sha256', hex: lfs.oid },
    }));
}

/** Git names a file by the SHA-1 of its content behind a header. Null: a server that names it otherwise. */
function gitDigest(hex: string, bytes: number): FileDigest | null {
  if (!/^[0-9a-f]{40}$/.test(hex)) return null;
  const around = { before: Buffer.from(`blob ${String(bytes)}\0`), after: Buffer.alloc(0) };
  return { algorithm: 'sha1', hex, around };
}

function pathInUrl(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
