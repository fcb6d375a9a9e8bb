// What drafts beside a model, at engine.speculative.uri: the head for multi-token prediction in a checkpoint paired with one that
// has none, or a draft model. Judged by the headers of those weight files alone that hold it, before any device is taken.

import {
  checkMtpHead,
  filesWithMtp,
  isOfMtp,
  parseCheckpointConfig,
  hasDraftModel,
  inDraftModel,
  readDraftModel,
  readEagle3Head,
  safetensorsSingleFile,
  type DraftModel,
  type Eagle3Head,
  type ModelShape,
  type MtpHead,
  type Speculative,
  type TensorEntry,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { readConfig, readHeaders, readIndex, type CheckpointFiles } from './read-safetensors.js';

export interface HeadSource {
  /** As the resource names it. */
  readonly uri: string;
  readonly files: CheckpointFiles;
}

export interface ReadHead {
  readonly head: MtpHead | Eagle3Head | DraftModel;
  /** The weight files that hold it, as they lie in the bucket. */
  readonly fileBytes: number;
  /** Of every file that was read. */
  readonly etags: ReadonlyMap<string, string>;
}

/** @throws FailureError InvalidEngineConfig where the head does not fit `trunk`, and those of a checkpoint */
export async function readHead(
  source: HeadSource,
  method: Speculative['method'],
  trunk: ModelShape,
): Promise<ReadHead> {
  const { config, tensors, fileBytes, etags } = await readFiles(source, method).catch((error: unknown) => {
    throw hasDraftModel({ method }) ? inDraftModel(source.uri, error) : error;
  });
  const read = readers[method] ?? mtpHead;
  return { head: read(source.uri, config, tensors, trunk), fileBytes, etags };
}

interface HeadFiles extends Omit<ReadHead, 'head'> {
  readonly config: string;
  readonly tensors: readonly TensorEntry[];
}

async function readFiles({ uri, files }: HeadSource, method: Speculative['method']): Promise<HeadFiles> {
  const etags = new Map<string, string>();
  const config = await readConfig(files);
  if (config === null) {
    throw new FailureError(
      'ModelNotFound',
      `engine.speculative.uri ${uri} has no config.json; a head is read from safetensors`,
    );
  }
  etags.set('config.json', config.etag);
  const index = await readIndex(files, etags);
  const ofMtp = index === null ? undefined : filesWithMtp(index);
  const holding = hasDraftModel({ method }) ? index?.files : ofMtp;
  const headers = await readHeaders(files, holding ?? [safetensorsSingleFile]);
  for (const { file, etag } of headers) etags.set(file, etag);
  const tensors = headers.flatMap((header) => header.tensors);
  const fileBytes = headers.reduce((sum, header) => sum + header.fileBytes, 0);
  return { config: config.text, tensors, fileBytes, etags };
}

const readers: Partial<Record<Speculative['method'], typeof readEagle3Head | typeof readDraftModel>> = {
  eagle3: readEagle3Head,
  draft_model: readDraftModel,
};

function mtpHead(uri: string, config: string, stored: readonly TensorEntry[], trunk: ModelShape): MtpHead {
  const shape = parseCheckpointConfig(config);
  const tensors = stored.filter(({ name }) => isOfMtp(name));
  checkMtpHead(uri, { shape, tensors }, trunk);
  return { shape, tensors };
}
