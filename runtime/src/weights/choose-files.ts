// Which files of a listing the runtime needs. Pure; a listing that cannot serve is a typed failure.

import {
  ggufFiles,
  isNestedWeights,
  isSmallCheckpointFile,
  missingFiles,
  safetensorsIndexFile,
  safetensorsSingleFile,
  type SafetensorsIndex,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { SourceFile } from './checkpoint-source.js';

/** @throws FailureError ModelNotFound when there is no config.json; the message says what is there instead */
export function requireConfig(uri: string, files: readonly SourceFile[]): void {
  if (files.some((file) => file.name === 'config.json')) return;
  const seen = files.map((file) => file.name).sort();
  const found =
    seen.length === 0
      ? 'there is no object directly under it'
      : `found only ${seen.slice(0, 10).join(', ')}${seen.length > 10 ? ` and ${String(seen.length - 10)} more` : ''}`;
  throw new FailureError('ModelNotFound', `${uri} has no config.json and no .gguf file: ${found}`);
}

/**
 * Names of the files to read, small ones first.
 * @param index parsed model.safetensors.index.json; null when the folder has none
 * @throws FailureError TokenizerMissing, CheckpointIncomplete
 */
export function chooseFiles(
  uri: string,
  files: readonly SourceFile[],
  index: SafetensorsIndex | null,
): string[] {
  const names = new Set(files.map((file) => file.name));
  if (!names.has('tokenizer.json')) {
    const remedy = names.has('tekken.json')
      ? ' but a tekken.json, which is not read: add the tokenizer.json of the matching release in Hugging Face format'
      : '';
    throw new FailureError('TokenizerMissing', `${uri} has no tokenizer.json${remedy}`);
  }
  const smallNames = [...names].filter((name) => isSmallCheckpointFile(name)).sort();
  if (index !== null) smallNames.push(safetensorsIndexFile);
  const weights = chooseWeights(uri, names, index);
  if (index === null) requireSingleFile(uri, weights);
  return [...smallNames, ...[...names].filter(isNestedWeights).sort(), ...weights];
}

/** Without an index the engine opens this one name. */
function requireSingleFile(uri: string, weights: readonly string[]): void {
  if (weights.includes(safetensorsSingleFile)) return;
  const message = `${uri} has its weights in ${weights.join(', ')}, which the engine does not look for: name it ${safetensorsSingleFile}`;
  throw new FailureError('CheckpointIncomplete', message);
}

/** What a pull writes beside the files, and what joins to a path out of the folder. */
const neverPulled = /^\.llmservice-|(^|\/)\.{1,2}(\/|$)/;

/** Weights in other forms than the one that is taken. */
const otherWeights = /\.(safetensors|bin|pt|pth|ckpt|gguf|h5|msgpack|onnx|tflite)$/;

/**
 * Names of all files of a checkpoint in safetensors that another engine may want, weights last.
 * @throws FailureError CheckpointIncomplete
 */
export function chooseAllFiles(
  uri: string,
  files: readonly SourceFile[],
  index: SafetensorsIndex | null,
): string[] {
  const names = new Set(files.map((file) => file.name).filter((name) => !neverPulled.test(name)));
  const beside = [...names].filter((name) => !otherWeights.test(name)).sort();
  return [...beside, ...chooseWeights(uri, names, index)];
}

/**
 * The same of a checkpoint in GGUF, which brings its configuration and may bring its tokenizer; of a split one the parts
 * are last, in their order.
 * @param gguf the file, or the first part
 * @throws FailureError ModelNotFound, CheckpointIncomplete
 */
export function chooseGgufFiles(uri: string, files: readonly SourceFile[], gguf: string): string[] {
  const names = files.map((file) => file.name);
  const small = names.filter((name) => isSmallCheckpointFile(name) && name !== 'config.json').sort();
  return [...small, ...names.filter(isNestedWeights).sort(), ...ggufFiles(uri, names, gguf)];
}

function chooseWeights(
  uri: string,
  names: ReadonlySet<string>,
  index: SafetensorsIndex | null,
): readonly string[] {
  if (index !== null) {
    const missing = index.files.filter((file) => !names.has(file));
    if (missing.length > 0) throw missingFiles(missing);
    return index.files;
  }
  if (names.has(safetensorsSingleFile)) return [safetensorsSingleFile];
  const weights = [...names].filter((name) => name.endsWith('.safetensors') && !isNestedWeights(name));
  if (weights.length === 1) return weights;
  const found =
    weights.length === 0
      ? 'no .safetensors file'
      : `${String(weights.length)} .safetensors files but no index`;
  throw new FailureError(
    'CheckpointIncomplete',
    `${uri} has ${found}; expected ${safetensorsSingleFile} or ${safetensorsIndexFile}`,
  );
}
