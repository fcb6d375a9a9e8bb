// Where the bytes of a checkpoint are: a flat folder of named files, listed and read by ranges. The operator's preflight and
// the runtime's pull read through it, each with its own bounds, retries and reasons. A further place that is not a disk is
// one more implementation; it throws errors as `readError` of its store takes them, with the status of an answer or the code of Node.
// Folders of this machine are read by path instead: readers differ in which links they follow, and engines map the files.

import type { Readable } from 'node:stream';
import type { StoreKind } from '@llmservice/crds';
import type { ListedFile } from './checkpoint-pin.js';

/** Of the whole file. */
export interface FileDigest {
  readonly algorithm: 'md5' | 'sha1' | 'sha256';
  readonly hex: string;
  /** It is that of the file with these bytes before and after it, as in an archive or in git; absent: of the file alone. */
  readonly around?: { readonly before: Uint8Array; readonly after: Uint8Array };
}

/** What identifies one version of a file, and what its content can be verified against. */
export interface FileVersion {
  /** Name in the folder, without a slash; nested-files.ts says which file it is of one below. */
  readonly name: string;
  readonly bytes: number;
  /** Opaque version; null where the source has none (a local folder). */
  readonly etag: string | null;
  /** Expected digest of the whole file; null where the source does not report one. */
  readonly digest: FileDigest | null;
  /**
   * It is a part of what can be read from its start alone: ranges of all files with one `id` are to be asked for one after the
   * other, as they lie behind each other. Absent: any range can be read.
   */
  readonly stream?: { readonly id: string; readonly begin: number };
}

/** The answer to one read, before its bytes. A server may give another range than the one that was asked for. */
export interface OpenRange {
  /** Of the first byte in the file. */
  readonly begin: number;
  /** Behind the last byte; null: the rest of the file. */
  readonly end: number | null;
  /** Size of the whole file; null: not said. */
  readonly fileBytes: number | null;
  readonly etag: string | null;
  /** In words, for messages. */
  readonly answer: string;
  readonly body: Readable;
}

export interface ByteSource {
  readonly kind: StoreKind;
  /** For messages: ends with a slash. */
  readonly uri: string;
  /** Files directly in the folder, and those of nested-files.ts. */
  list(): Promise<ListedFile[]>;
  version(name: string): Promise<FileVersion>;
  /** Bytes [begin, end). @param etag of the one version that is wanted; null: any */
  open(name: string, begin: number, end: number, etag: string | null): Promise<OpenRange>;
}
