// What a checkpoint is by the listing of its folder alone. The operator pins it to a revision; on a node, the cache
// keeps the files under that name: equal pins mean equal files.

import { createHash } from 'node:crypto';
import { firstGgufPart } from '../formats/gguf-part-names.js';
import { safetensorsIndexFile } from '../formats/safetensors-index.js';
import { timestamp } from '@llmservice/crds';
import { isNestedFile, poolingFile } from '../config/nested-files.js';
import { modulesFile } from '../config/sentence-modules.js';
import { lengthFile, promptsFile } from '../config/sentence-settings.js';

/** A file as a listing shows it. */
export interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  /** Differs between contents; null where the server sends nothing that does. */
  readonly version: string | null;
}

export interface CheckpointFolder {
  /** Null: AWS. */
  readonly endpoint: string | null;
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** The GGUF file below it that is meant, of a split one the first part; null for the folder. */
  readonly file: string | null;
}

/** Small files that the runtime reads beside the weights. */
const small =
  /^(config\.json|generation_config\.json|modules\.json|1_Pooling\.config\.json|\d_Dense\.config\.json|config_sentence_transformers\.json|sentence_bert_config\.json|tokenizer[\w.-]*|special_tokens_map\.json|chat_template[\w.-]*)$/;

/** Whether the first releases read it: to them a checkpoint was the same whatever the files of later ones said. */
export function isOfFirstReleases(name: string): boolean {
  return ![modulesFile, promptsFile, lengthFile].includes(name) && !isNestedFile(name);
}

/** Whether the former release read it, to which only the pooling lay below a folder, and no file had prompts or a length. */
export function isOfFormerRelease(name: string): boolean {
  return isOfFirstReleases(name) || name === modulesFile || name === poolingFile;
}

export function isSmallCheckpointFile(name: string): boolean {
  return small.test(name);
}

/**
 * Names the content: 16 hexadecimal digits. The place is part of it, since not every server's versions are digests of
 * the content. Files that the runtime never reads make no difference.
 */
export function checkpointPin(folder: CheckpointFolder, files: readonly ListedFile[]): string {
  const read = files
    .filter(({ name }) => isRead(folder.file, name))
    .map(({ name, bytes, version }) => [name, bytes, version] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const { endpoint, bucket, prefix, file } = folder;
  const content = JSON.stringify([endpoint?.replace(/\/+$/, '') ?? null, bucket, prefix, file, read]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

function isRead(gguf: string | null, name: string): boolean {
  if (isSmallCheckpointFile(name)) return true;
  if (gguf !== null) return firstGgufPart(name) === gguf;
  return name === safetensorsIndexFile || /\.(safetensors|gguf)$/.test(name);
}

/** Some S3 servers keep no ETag for files that were put into their folder: then the time of the last change serves. */
const modifiedPrefix = 'modified:';

/** Of an object as S3 describes it; null where it sends neither ETag nor time. */
export function objectVersion(described: {
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
}): string | null {
  const { ETag: etag = '', LastModified: modified } = described;
  if (etag.replaceAll('"', '') !== '') return etag;
  // Headers give whole seconds, listings finer ones.
  return modified === undefined ? null : `${modifiedPrefix}${timestamp(modified)}`;
}

/** Whether a version is a time, which cannot be asked for. */
export function isTimeVersion(version: string): boolean {
  return version.startsWith(modifiedPrefix);
}
