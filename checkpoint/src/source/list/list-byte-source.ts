// The files that a list over HTTP names as a folder of files. The list is read once and compared with its digest where one is
// wanted; without one it is read again where a file is no more as it says. Each file is of the size and the SHA-256 in the list.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { flatNameOf } from '../../config/nested-files.js';
import type { ByteSource, FileVersion, OpenRange } from '../byte-source.js';
import type { ListedFile } from '../checkpoint-pin.js';
import {
  bytesOf,
  followRedirects,
  request,
  storageFailure,
  StoragePlaces,
  StoreHttpError,
  type Answer,
  type Fetch,
  type Got,
} from '../http/http-client.js';
import { readRangeAnswer } from '../range-answer.js';
import { readFileList, unsupported, type ListedAt } from './file-list.js';
import type { ListToken } from './list-token.js';
import { listUri, type ListPlace } from './list-uri.js';

export interface ListAccess {
  /** Not sent to lists of other origins; null: requests name nobody. */
  readonly token: ListToken | null;
  readonly fetch: Fetch;
}

interface ListBounds {
  /** Whether a server that gives a whole file for a part of it is refused at once; else it is its reader's to judge. */
  readonly ranges?: 'required' | 'judged';
  /** Called with where each file lies before any is asked for. @throws where it may not be */
  readonly checkAddress?: (url: URL) => void;
  /** Ends requests; a body that has begun is its reader's to end. */
  readonly signal?: AbortSignal;
}

type Files = ReadonlyMap<string, ListedAt>;

const maxListBytes = 4 * 1024 * 1024;
const gone: readonly number[] = [404, 410];
/** To the server of a list a token may be missing. */
const denied: readonly number[] = [401, 403];
/** The file is shorter than was asked for. */
const notThere = 416;
/** What another attempt may change, and what is said of a file's length. */
const passing: readonly number[] = [408, 412, notThere, 425, 429];

export class ListByteSource implements ByteSource {
  readonly kind = 'list';
  readonly uri: string;
  private readonly listUrl: URL;
  private readonly places: StoragePlaces;
  /** For the origin of the list alone. */
  private readonly token: string | null;
  private reading: Promise<Files> | null = null;

  constructor(
    private readonly access: ListAccess,
    private readonly place: ListPlace,
    private readonly bounds: ListBounds = {},
  ) {
    this.uri = listUri(place);
    this.listUrl = new URL(place.list);
    this.places = new StoragePlaces(this.listUrl.origin);
    const { token } = access;
    this.token = token?.origin === this.listUrl.origin ? token.text : null;
  }

  async list(): Promise<ListedFile[]> {
    return [...(await this.files())].map(([name, { bytes, sha256 }]) => ({ name, bytes, version: sha256 }));
  }

  async version(name: string): Promise<FileVersion> {
    const { bytes, sha256 } = await this.file(name);
    return { name, bytes, etag: sha256, digest: { algorithm: 'sha256', hex: sha256 } };
  }

  async open(name: string, begin: number, end: number): Promise<OpenRange> {
    const file = await this.file(name);
    try {
      return await this.openFile(name, file, begin, end);
    } catch (error) {
      if (!isOfAnother(error) || !(await this.isReplaced(name, file))) throw error;
      throw new StoreHttpError('RangeNotThere', null, `the list was replaced, in which ${name} is another`);
    }
  }

  private async openFile(name: string, file: ListedAt, begin: number, end: number): Promise<OpenRange> {
    if (begin >= file.bytes) throw new StoreHttpError('RangeNotThere', notThere, `${name} ends before`);
    const until = Math.min(end, file.bytes);
    const headers = {
      range: `bytes=${String(begin)}-${String(until - 1)}`,
      'accept-encoding': 'identity',
    };
    const { answer, body } = await this.places
      .get(
        name,
        (known) => this.request(known, headers, null),
        () => this.get(file.url, headers, name),
      )
      .catch((error: unknown) => {
        throw isNotThere(error) ? sizeDiffers(name, file, 'is shorter') : error;
      });
    const length = answer.headers.get('content-length');
    const contentRange = answer.headers.get('content-range') ?? undefined;
    const range = readRangeAnswer(answer.status, contentRange, length === null ? undefined : Number(length));
    try {
      if (range.fileBytes !== null && range.fileBytes !== file.bytes)
        throw sizeDiffers(name, file, `has ${String(range.fileBytes)}`);
      const isPart = begin > 0 || until < file.bytes;
      if (isPart && range.end === null && this.bounds.ranges === 'required')
        throw unsupported(
          'RangeNotHonoured',
          this.listUrl,
          'the server of a file gives all of it for a part',
        );
    } catch (error) {
      await body.cancel();
      throw error;
    }
    return { ...range, fileBytes: file.bytes, etag: file.sha256, body: Readable.fromWeb(body) };
  }

  /** A list without a digest may have been published anew with its files: what lies there now counts from then on. */
  private async isReplaced(name: string, { bytes, sha256, url }: ListedAt): Promise<boolean> {
    if (this.place.digest !== null) return false;
    const files = await this.read();
    const now = files.get(name);
    const isSame = now?.bytes === bytes && now.sha256 === sha256 && now.url.href === url.href;
    if (!isSame) this.reading = Promise.resolve(files);
    return !isSame;
  }

  private async file(name: string): Promise<ListedAt> {
    const file = (await this.files()).get(name);
    if (file === undefined) throw new StoreHttpError('FileAbsent', 404, `${this.uri} has no file ${name}`);
    return file;
  }

  private files(): Promise<Files> {
    this.reading ??= this.read().catch((error: unknown) => {
      this.reading = null;
      throw error;
    });
    return this.reading;
  }

  private async read(): Promise<Files> {
    const { digest, folder } = this.place;
    if (this.token !== null && this.listUrl.protocol !== 'https:')
      throw new StoreHttpError(
        'InsecureToken',
        null,
        `${this.listUrl.origin} would see the token without TLS`,
      );
    const { body } = await this.get(this.listUrl, { accept: 'application/json' }, null);
    const content = await bytesOf(body, maxListBytes);
    const found = createHash('sha256').update(content).digest('hex');
    if (digest !== null && found !== digest)
      throw new StoreHttpError('DigestMismatch', null, `the list has the digest sha256:${found}`);
    const files = new Map<string, ListedAt>();
    for (const [at, [path, file]] of [...readFileList(content, this.listUrl)].entries()) {
      this.bounds.checkAddress?.(file.url);
      const below = path.startsWith(folder) ? path.slice(folder.length) : '';
      const name = below.includes('/') ? flatNameOf(below) : below;
      if (name === null || name === '') continue;
      // A folder's file and one that has its flat name.
      if (files.has(name))
        throw unsupported(
          'RepeatedFile',
          this.listUrl,
          `resources[${String(at)}] becomes the file of an earlier one: pulled, both are named alike`,
        );
      files.set(name, file);
    }
    return files;
  }

  /** @param name of the file that is asked for; null: the list */
  private get(from: URL, headers: Record<string, string>, name: string | null): Promise<Got> {
    // Whoever a server leads to could lead back, to what it chooses.
    let { token } = this;
    return followRedirects(
      from,
      (url) => {
        if (url.origin !== this.listUrl.origin) token = null;
        return this.request(url, headers, token);
      },
      async (url, answer) => {
        await answer.body?.cancel();
        const { status } = answer;
        const isElsewhere = url.origin !== from.origin;
        if (isElsewhere && !isFinal(status)) return storageFailure(url, answer);
        const missing = name === null ? 'ListAbsent' : 'FileGone';
        const refused = isFinal(status) && (isElsewhere || !denied.includes(status)) ? 'RequestRefused' : '';
        const words = `${url.host} answered with ${String(status)} for ${name ?? 'the list'}`;
        return new StoreHttpError(gone.includes(status) ? missing : refused, status, words);
      },
    );
  }

  private request(url: URL, headers: Record<string, string>, token: string | null): Promise<Answer> {
    const all = { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
    return request(this.access.fetch, url, all, this.bounds.signal);
  }
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !passing.includes(status);
}

/** What comes of a file that is no more as it is listed. */
function isOfAnother(error: unknown): boolean {
  return error instanceof StoreHttpError && ['SizeDiffers', 'FileGone'].includes(error.code);
}

function isNotThere(error: unknown): boolean {
  return error instanceof StoreHttpError && error.$metadata.httpStatusCode === notThere;
}

function sizeDiffers(name: string, { bytes }: ListedAt, found: string): StoreHttpError {
  return new StoreHttpError(
    'SizeDiffers',
    null,
    `the list says that ${name} has ${String(bytes)} bytes, it ${found}`,
  );
}
