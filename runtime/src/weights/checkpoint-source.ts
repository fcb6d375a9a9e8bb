// Where a checkpoint's files come from: a flat folder of named files, read by byte ranges.
// Implemented over a remote place and over a local folder, so that both are inspected by the same code.

import type { FileVersion } from '@llmservice/checkpoint';
import type { StoreKind } from '@llmservice/crds';

export type { FileVersion };

/** One file in the folder that holds config.json. */
export interface SourceFile {
  /** Name relative to the folder; never contains a slash. */
  readonly name: string;
  readonly bytes: number;
}

export interface CheckpointSource {
  /** For messages: what the user wrote. */
  readonly uri: string;
  /**
   * Files directly in the folder.
   * @throws FailureError BucketNotFound, S3AccessDenied; UnavailableError when trying again may help
   */
  list(): Promise<readonly SourceFile[]>;
  /** @throws SourceChangedError when the file is gone */
  version(name: string): Promise<FileVersion>;
  /**
   * Bytes [begin, end) of exactly this version, in chunks as they arrive.
   * @throws SourceChangedError when the file is no longer that version; WrongRangeError before any byte that is not of
   *   the range; UnavailableError
   */
  read(file: FileVersion, begin: number, end: number): AsyncIterable<Uint8Array>;
}

/** The source cannot be reached or is overloaded: nothing is wrong with the checkpoint, so try again later. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';

  constructor(
    readonly store: StoreKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The answer is not the range that was asked for: a proxy may give one now and then, some servers always do. */
export class WrongRangeError extends UnavailableError {}

/** A file was replaced or removed while it was being read: look at the folder again from the start. */
export class SourceChangedError extends Error {
  override readonly name = 'SourceChangedError';
}
