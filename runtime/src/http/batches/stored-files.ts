// Files of API keys over a store of objects: files/OWNER/ID.json says what is known of one, content/OWNER/ID/… has its
// content in parts of some megabytes. A file is there once its first object is, which is written last.

import { ApiError } from '../../request/body/api-error.js';
import { FileRoom } from './file-room.js';
import { asJson, jsonOf, type ObjectStore } from '../objects/object-store.js';
import type { ContentPart, StoredFile } from './stored-file.js';
import { filePrefix, folderOf, isId, timedId } from './stored-ids.js';

export interface FileLimits {
  /** Of all files, of every owner. */
  readonly maxBytes: number;
  readonly maxFileBytes: number;
  readonly maxAgeMs: number;
}

/** Held in memory for each upload, and for each reader. */
export const partBytes = 4 * 1024 * 1024;

export class StoredFiles {
  readonly room: FileRoom;

  /** @param clock Unix time in milliseconds */
  constructor(
    private readonly objects: ObjectStore,
    readonly limits: FileLimits,
    private readonly clock: () => number,
  ) {
    this.room = new FileRoom(limits.maxBytes);
  }

  /** A file that comes in pieces. */
  begin(owner: string): FileWriter {
    return new FileWriter(owner, timedId(filePrefix, this.clock()), this.objects, this);
  }

  /** Stores a part; whatever there is room for. */
  async putPart(part: ContentPart, body: Buffer): Promise<void> {
    await this.objects.put(part.key, body, 'anything');
  }

  /** From now on the file is there, with what is stored of it. */
  async publish(
    owner: string,
    file: Pick<StoredFile, 'id' | 'filename' | 'purpose' | 'parts'>,
  ): Promise<StoredFile> {
    const createdAt = this.clock();
    const stored = { ...file, createdAt, expiresAt: createdAt + this.limits.maxAgeMs };
    await this.objects.put(keyOf(owner, file.id), asJson(stored), 'anything');
    return stored;
  }

  /** @throws ApiError file_not_found */
  async require(owner: string, id: string): Promise<StoredFile> {
    const found = isId(filePrefix, id) ? await this.#get(owner, id) : null;
    if (found === null) {
      const message = `No such File object: ${id}: it was not stored under this API key, or was deleted, or is too old`;
      throw ApiError.of('file_not_found', message);
    }
    return found;
  }

  /** Ids of all that are there, the newest first. */
  async ids(owner: string): Promise<readonly string[]> {
    const root = rootOf(owner);
    const objects = await this.objects.list(root);
    return objects.map(({ key }) => key.slice(root.length, -'.json'.length)).reverse();
  }

  /** Null: it is gone meanwhile. */
  async #get(owner: string, id: string): Promise<StoredFile | null> {
    const object = await this.objects.get(keyOf(owner, id));
    const file = object === null ? null : (jsonOf(object) as StoredFile);
    return file === null || file.expiresAt <= this.clock() ? null : file;
  }

  /** Those of a list that are still there. */
  async existing(owner: string, ids: readonly string[]): Promise<readonly StoredFile[]> {
    const found = await Promise.all(ids.map((id) => this.#get(owner, id)));
    return found.filter((file) => file !== null);
  }

  /** @throws ApiError file_not_found: the file was deleted meanwhile */
  async part({ key }: ContentPart): Promise<Buffer> {
    const object = await this.objects.get(key);
    if (object === null) throw ApiError.of('file_not_found', 'the content of the file was deleted');
    return object.body;
  }

  /** @throws ApiError file_not_found */
  async delete(owner: string, id: string): Promise<void> {
    const { parts } = await this.require(owner, id);
    await this.objects.delete(keyOf(owner, id));
    await this.drop(owner, parts);
  }

  async drop(owner: string, parts: readonly ContentPart[]): Promise<void> {
    for (const { key, bytes } of parts) {
      await this.objects.delete(key);
      this.room.add(folderOf(owner), -bytes);
    }
  }
}

/** Where a part of a file goes. */
export const partKey = (owner: string, fileId: string, name: string): string =>
  `content/${folderOf(owner)}/${fileId}/${name}`;

const rootOf = (owner: string): string => `files/${folderOf(owner)}/`;
const keyOf = (owner: string, id: string): string => `${rootOf(owner)}${id}.json`;

export class FileWriter {
  readonly #stored: ContentPart[] = [];
  #pieces: Buffer[] = [];
  #pending = 0;
  #bytes = 0;

  constructor(
    private readonly owner: string,
    private readonly id: string,
    private readonly objects: ObjectStore,
    private readonly files: StoredFiles,
  ) {}

  /** @throws ApiError request_too_large; those of `FileRoom.take`; server_busy */
  async add(bytes: Buffer): Promise<void> {
    const { maxFileBytes } = this.files.limits;
    this.#bytes += bytes.length;
    if (this.#bytes > maxFileBytes) {
      const message = `the file has more than ${String(maxFileBytes)} bytes, which is the limit of a file`;
      throw ApiError.of('request_too_large', message);
    }
    this.#pieces.push(bytes);
    this.#pending += bytes.length;
    if (this.#pending >= partBytes) await this.#flush();
  }

  /** The file is there from now on. */
  async end(filename: string, purpose: StoredFile['purpose']): Promise<StoredFile> {
    if (this.#pending > 0) await this.#flush();
    return this.files.publish(this.owner, { id: this.id, filename, purpose, parts: this.#stored });
  }

  /** Nothing of it stays. */
  abandon(): Promise<void> {
    return this.files.drop(this.owner, this.#stored);
  }

  async #flush(): Promise<void> {
    const body = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pending = 0;
    this.files.room.take(folderOf(this.owner), body.length, this.owner !== '');
    const key = partKey(this.owner, this.id, String(this.#stored.length).padStart(6, '0'));
    const part = { key, bytes: body.length };
    this.#stored.push(part);
    await this.objects.put(key, body, 'anything');
  }
}
