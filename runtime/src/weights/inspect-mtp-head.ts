// Inspects a checkpoint for its layer for multi-token prediction alone: configuration, and headers of the weight files
// that hold it. Whether the layer fits the model is checked here, before any of it is fetched.

import {
  checkMtpHead,
  chooseGguf,
  filesWithMtp,
  isOfMtp,
  parseCheckpointConfig,
  safetensorsSingleFile,
  type ModelShape,
  type SafetensorsIndex,
  type TensorEntry,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { CheckpointSource, FileVersion } from './checkpoint-source.js';
import { requireConfig } from './choose-files.js';
import {
  readHeader,
  readIndex,
  readText,
  type Attempt,
  type InspectedCheckpoint,
  type WeightsHeader,
} from './inspect-checkpoint.js';

export interface InspectedHead {
  /** config.json and the weight files that hold the layer. */
  readonly checkpoint: InspectedCheckpoint;
  /** Which of its tensors lies in which file; null: there is one file, and no index. */
  readonly weightMap: Readonly<Record<string, string>> | null;
}

/** @throws FailureError InvalidEngineConfig where it is no layer for `trunk`, and as `inspectCheckpoint` */
export async function inspectMtpHead(
  source: CheckpointSource,
  trunk: ModelShape,
  attempt: Attempt,
): Promise<InspectedHead> {
  const listing = await attempt(() => source.list());
  const names = listing.map(({ name }) => name);
  if (chooseGguf(source.uri, names) !== null) {
    const message = `engine.speculative.uri ${source.uri} is a GGUF file; a head is read from safetensors`;
    throw new FailureError('InvalidEngineConfig', message);
  }
  requireConfig(source.uri, listing);
  const shape = parseCheckpointConfig(await readText(source, 'config.json', attempt));
  const index = await readIndex(source, listing, attempt);
  const files: FileVersion[] = [];
  for (const name of ['config.json', ...weightFiles(source.uri, names, index)]) {
    files.push(await attempt(() => source.version(name)));
  }
  const headers = new Map<string, WeightsHeader>();
  const tensors: TensorEntry[] = [];
  for (const file of files.slice(1)) {
    const header = await readHeader(source, file, attempt);
    headers.set(file.name, header);
    tensors.push(...header.tensors.filter(({ name }) => isOfMtp(name)));
  }
  checkMtpHead(source.uri, { shape, tensors }, trunk);
  const map = index === null ? null : [...index.weightMap].filter(([tensor]) => isOfMtp(tensor));
  return {
    checkpoint: { shape, gguf: null, files, headers },
    weightMap: map === null ? null : Object.fromEntries(map),
  };
}

/** @throws FailureError CheckpointIncomplete */
function weightFiles(uri: string, names: readonly string[], index: SafetensorsIndex | null): string[] {
  const files = index === null ? [safetensorsSingleFile] : filesWithMtp(index);
  const missing = files.filter((file) => !names.includes(file));
  if (missing.length === 0) return files;
  throw new FailureError(
    'CheckpointIncomplete',
    `engine.speculative.uri ${uri} lacks the weight files of its head: ${missing.join(', ')}`,
    { missing: missing.length },
  );
}
