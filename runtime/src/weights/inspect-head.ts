// Inspects a checkpoint for what drafts: its layer for multi-token prediction alone, or all of it where it is a draft model.
// Configuration, and headers of the weight files that hold it: whether it fits the model is checked here, before any of it is
// fetched.

import {
  checkMtpHead,
  chooseGguf,
  filesWithMtp,
  isOfMtp,
  parseCheckpointConfig,
  hasDraftModel,
  readDraftModel,
  readEagle3Head,
  safetensorsSingleFile,
  type ModelShape,
  type SafetensorsIndex,
  type Speculative,
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
  /** config.json and the weight files that hold it. */
  readonly checkpoint: InspectedCheckpoint;
  /** Which of its tensors lies in which file; null: there is one file, and no index. */
  readonly weightMap: Readonly<Record<string, string>> | null;
}

export type HeadMethod = Exclude<Speculative['method'], 'none' | 'ngram'>;

/** What drafts and lies elsewhere. */
export interface HeadLocation {
  readonly uri: string;
  readonly method: HeadMethod;
}

/** Of engine.speculative; null where nothing is taken from elsewhere. */
export function headOf({
  method,
  uri,
}: {
  method: Speculative['method'];
  uri?: string;
}): HeadLocation | null {
  return uri === undefined || method === 'none' || method === 'ngram' ? null : { uri, method };
}

/** @throws FailureError InvalidEngineConfig where it drafts for no model like `trunk`, and as `inspectCheckpoint` */
export async function inspectHead(
  source: CheckpointSource,
  method: HeadMethod,
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
  const config = await readText(source, 'config.json', attempt);
  const index = await readIndex(source, listing, attempt);
  const files: FileVersion[] = [];
  for (const name of ['config.json', ...weightFiles(source.uri, method, names, index)]) {
    files.push(await attempt(() => source.version(name)));
  }
  const headers = new Map<string, WeightsHeader>();
  const tensors: TensorEntry[] = [];
  for (const file of files.slice(1)) {
    const header = await readHeader(source, file, attempt);
    headers.set(file.name, header);
    tensors.push(...header.tensors);
  }
  const isRead = hasDraftModel({ method }) ? (): boolean => true : isOfMtp;
  const shape = judge(
    source.uri,
    method,
    config,
    tensors.filter(({ name }) => isRead(name)),
    trunk,
  );
  const map = index === null ? null : [...index.weightMap].filter(([tensor]) => isRead(tensor));
  return {
    checkpoint: { shape, gguf: null, files, headers },
    weightMap: map === null ? null : Object.fromEntries(map),
  };
}

/** @returns the shape that its config.json implies @throws FailureError where it drafts for no model like `trunk` */
function judge(
  uri: string,
  method: HeadMethod,
  config: string,
  tensors: readonly TensorEntry[],
  trunk: ModelShape,
): ModelShape {
  if (method === 'eagle3') return readEagle3Head(uri, config, tensors, trunk).shape;
  if (method === 'draft_model') return readDraftModel(uri, config, tensors, trunk).shape;
  const shape = parseCheckpointConfig(config);
  checkMtpHead(uri, { shape, tensors }, trunk);
  return shape;
}

/** @throws FailureError CheckpointIncomplete */
function weightFiles(
  uri: string,
  method: HeadMethod,
  names: readonly string[],
  index: SafetensorsIndex | null,
): readonly string[] {
  const ofIndex = hasDraftModel({ method }) ? index?.files : index === null ? undefined : filesWithMtp(index);
  const files = ofIndex ?? [safetensorsSingleFile];
  const missing = files.filter((file) => !names.includes(file));
  if (missing.length === 0) return files;
  // Older draft models are published so.
  const pickled = names.filter((name) => name.endsWith('.bin'));
  const hint = pickled.length === 0 ? '' : `; ${pickled.join(', ')} is not read: convert it to safetensors`;
  throw new FailureError(
    'CheckpointIncomplete',
    `engine.speculative.uri ${uri} lacks the weight files of its head: ${missing.join(', ')}${hint}`,
    { missing: missing.length },
  );
}
