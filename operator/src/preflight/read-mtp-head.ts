// The head for multi-token prediction in a checkpoint paired with one that has none: judged by the headers of those
// weight files alone that hold it, before any device is taken.

import {
  checkMtpHead,
  filesWithMtp,
  isOfMtp,
  parseCheckpointConfig,
  safetensorsSingleFile,
  type ModelShape,
  type MtpHead,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { readConfig, readHeaders, readIndex, type CheckpointFiles } from './read-safetensors.js';

export interface HeadSource {
  /** As the resource names it. */
  readonly uri: string;
  readonly files: CheckpointFiles;
}

export interface ReadHead extends MtpHead {
  /** The weight files that hold it, as they lie in the bucket. */
  readonly fileBytes: number;
  /** Of every file that was read. */
  readonly etags: ReadonlyMap<string, string>;
}

/** @throws FailureError InvalidEngineConfig where the head does not fit `trunk`, and those of a checkpoint */
export async function readMtpHead({ uri, files }: HeadSource, trunk: ModelShape): Promise<ReadHead> {
  const etags = new Map<string, string>();
  const config = await readConfig(files);
  if (config === null) {
    throw new FailureError(
      'ModelNotFound',
      `engine.speculative.uri ${uri} has no config.json; a head is read from safetensors`,
    );
  }
  etags.set('config.json', config.etag);
  const shape = parseCheckpointConfig(config.text);
  const index = await readIndex(files, etags);
  const headers = await readHeaders(files, index === null ? [safetensorsSingleFile] : filesWithMtp(index));
  for (const { file, etag } of headers) etags.set(file, etag);
  const tensors = headers.flatMap((header) => header.tensors).filter(({ name }) => isOfMtp(name));
  checkMtpHead(uri, { shape, tensors }, trunk);
  const fileBytes = headers.reduce((sum, header) => sum + header.fileBytes, 0);
  return { shape, tensors, fileBytes, etags };
}
