// From the URI of a checkpoint to the source that its files are read from.

import { join } from 'node:path';
import type { CheckpointSource } from './checkpoint-source.js';
import { checkpointFolderName, parseCheckpointUri, type UriField } from './checkpoint-uri.js';
import { FolderSource } from './folder-source.js';
import { makeS3Client, type S3Settings } from './s3-client.js';
import { S3Source } from './s3-source.js';

export interface OpenSource {
  readonly source: CheckpointSource;
  /** The GGUF file that is meant; null for the folder. */
  readonly file: string | null;
  /** Where the files lie: a local folder itself, else the folder that they are to be pulled to. */
  readonly dir: string;
  readonly isLocal: boolean;
  /** Ends what is under way. Idempotent. */
  readonly close: () => void;
}

export interface SourceSettings {
  /** Pulled checkpoints lie in folders of their own below it. */
  readonly weightsDir: string;
  readonly s3: S3Settings;
  readonly signal: AbortSignal;
}

/** @throws FailureError InvalidEngineConfig */
export function openSource(field: UriField, text: string, settings: SourceSettings): OpenSource {
  const uri = parseCheckpointUri(field, text);
  if (uri.kind === 'folder') {
    return {
      source: new FolderSource(uri.dir),
      file: uri.file,
      dir: uri.dir,
      isLocal: true,
      close: () => undefined,
    };
  }
  const { signal, s3, weightsDir } = settings;
  const client = makeS3Client(s3);
  const destroy = (): void => client.destroy();
  // Ends reads that wait for a server that says nothing.
  signal.addEventListener('abort', destroy);
  return {
    source: new S3Source(client, uri.bucket, uri.prefix),
    file: uri.file,
    dir: join(weightsDir, checkpointFolderName(text)),
    isLocal: false,
    close: () => {
      signal.removeEventListener('abort', destroy);
      destroy();
    },
  };
}
