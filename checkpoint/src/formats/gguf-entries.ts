// The tensors of a GGUF file under the names that safetensors checkpoints have, with what reading them undoes.

import { FailureError } from '@llmservice/crds';
import type { GgufTensor } from './gguf-header.js';
import type { GgufKeys } from './gguf-keys.js';
import {
  nvfp4,
  nvfp4Tensors,
  scaleOfInputs,
  scaleOfTensor,
  scaleSides,
  type BlockPart,
} from './gguf-nvfp4.js';
import { engineName } from './gguf-tensor-names.js';
import { ggufTypeNames } from './gguf-types.js';
import type { PlacedTensor } from './safetensors-header.js';

/**
 * What the converter did to a tensor's values, which reading it undoes: `halvedRows`: rows of each head lie as neighbours
 * that rotate together, not as two halves; `logOfDecay`: it holds -exp of what it should.
 * Source: llama.cpp, conversion/llama.py and conversion/qwen.py.
 */
export type GgufRestoration = 'halvedRows' | 'logOfDecay';

/** A tensor under the name that safetensors checkpoints have for it. */
export interface GgufTensorEntry extends PlacedTensor {
  /** That its data is in. */
  readonly file: string;
  /** In the file, for messages. */
  readonly storedName: string;
  readonly restoration: GgufRestoration | null;
  /** What it is of blocks that hold several tensors. */
  readonly blockPart?: BlockPart;
}

type ByName = ReadonlyMap<string, GgufTensor>;

/** None for what is not run. */
export function toEntries(keys: GgufKeys, tensor: GgufTensor, byName: ByName): readonly GgufTensorEntry[] {
  const { name: stored, file, dtype, shape, offset, bytes } = tensor;
  const [, layer] = /^blk\.(\d+)\./.exec(stored) ?? [];
  if (layer !== undefined && Number(layer) >= keys.layers) return [];
  if (scaleOfInputs.test(stored)) return [];
  checkExperts(keys, tensor);
  const isOwn = keys.isGemma4 && engineName(keys, stored) !== undefined;
  const scaled = isOwn ? undefined : scaleOfTensor.exec(stored)?.[1];
  if (scaled !== undefined) checkScale(keys, tensor, byName.get(`${scaled}.weight`));
  const named = engineName(keys, scaled === undefined ? stored : `${scaled}.weight`);
  if (named === undefined) {
    throw keys.unsupported(
      `tensor ${stored} is not one that ${keys.architecture} has here, so the model would not be what it was made to be`,
    );
  }
  if (bytes === null) {
    throw new FailureError(
      'UnsupportedQuantization',
      `${file}: tensor ${stored} has type ${dtype}; supported in GGUF files: ${ggufTypeNames()}; ` +
        'a file made as Q8_0, Q4_K_M or F16 would do',
      { file },
    );
  }
  const name = scaled === undefined ? named : `${named}_scale_2`;
  const restoration = scaled === undefined ? restorationOf(name, keys) : null;
  const entry = {
    name,
    file,
    storedName: stored,
    dtype,
    shape: restored(name, shape),
    offset,
    bytes,
    restoration,
  };
  if (dtype !== nvfp4.name) return [entry];
  return nvfp4Tensors(entry, byName.has(stored.replace(/weight$/, 'scale')));
}

/** @throws FailureError UnsupportedQuantization, CheckpointCorrupt */
function checkScale(keys: GgufKeys, { name, file, shape }: GgufTensor, of: GgufTensor | undefined): void {
  if (of?.dtype !== nvfp4.name) {
    throw new FailureError(
      'UnsupportedQuantization',
      `${file}: tensor ${name} scales ${of === undefined ? 'no tensor of the file' : `${of.name}, which is ${of.dtype}`}; ` +
        'only NVFP4 is read with a scale of the whole tensor',
      { file },
    );
  }
  const sides = scaleSides(of.shape);
  if (shape.join() === sides.join()) return;
  throw new FailureError(
    'CheckpointCorrupt',
    `${file}: tensor ${name} has shape [${shape.join(', ')}] where ${of.name} of shape [${of.shape.join(', ')}] takes [${sides.join(', ')}]`,
    { file },
  );
}

/**
 * Experts of Gemma 4 have scales of their own, under the name that others have for those of whole tensors: of experts in NVFP4 the
 * converter makes one of both. @throws FailureError UnsupportedQuantization
 */
function checkExperts(keys: GgufKeys, { name, file, dtype }: GgufTensor): void {
  if (!keys.isGemma4 || dtype !== nvfp4.name || !name.endsWith('.ffn_down_exps.weight')) return;
  throw new FailureError(
    'UnsupportedQuantization',
    `${file}: tensor ${name} is ${dtype}, in whose scales files of ${keys.architecture} have those of experts; ` +
      'what works: a file made as Q8_0 or Q4_K_M, or the safetensors that it was made of',
    { file },
  );
}

function restorationOf(name: string, { architecture }: GgufKeys): GgufRestoration | null {
  if (name.endsWith('A_log')) return 'logOfDecay';
  return architecture === 'llama' && /\.self_attn\.[qk]_proj\./.test(name) ? 'halvedRows' : null;
}

/** Sides of 1 that the converter drops. */
function restored(name: string, shape: readonly number[]): readonly number[] {
  const [first = 1, ...rest] = shape;
  if (name.endsWith('shared_expert_gate.weight') && rest.length === 0) return [1, first];
  return name.endsWith('conv1d.weight') && rest.length === 1 ? [first, 1, ...rest] : shape;
}
