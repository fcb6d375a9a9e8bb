// Rotary scalings and attention windows of config.json that the engine has.

import { type Architecture, hybrids } from './architectures.js';
import { type ConfigObject, isObject, quote } from './config-fields.js';
import { FailureError } from '@llmservice/crds';

const ropeTypes: readonly unknown[] = ['default', 'linear', 'llama3', 'yarn'];

/** Rotary embedding: how much of a head it turns, and how far it reaches. */
export interface Rope {
  /** Features per head. */
  readonly rotaryDim: number;
  /** Longest context that the checkpoint was made for or stretched to, in tokens. */
  readonly maxPositionEmbeddings: number;
}

/**
 * @param maxPositions max_position_embeddings of config.json
 * @throws FailureError UnsupportedArchitecture for a rotary scaling that the engine lacks
 */
export function readRope(
  text: ConfigObject,
  architecture: Architecture,
  headDim: number,
  maxPositions: number,
): Rope {
  const found = text['rope_parameters'] ?? text['rope_scaling'];
  const rope = isObject(found) ? found : {};
  const type = rope['rope_type'] ?? rope['type'] ?? 'default';
  if (!ropeTypes.includes(type)) {
    throw new FailureError(
      'UnsupportedArchitecture',
      `config.json: rope_type ${quote(type)} is not supported; supported: ${ropeTypes.join(', ')}`,
    );
  }
  const usual = hybrids.has(architecture) ? 0.25 : 1;
  const share = numberIn(rope, 'partial_rotary_factor') ?? numberIn(text, 'partial_rotary_factor') ?? usual;
  return {
    rotaryDim: Math.round(headDim * share),
    maxPositionEmbeddings: stretched(text, rope, type, maxPositions),
  };
}

/** As vLLM derives it. llama3 configs state the stretched context; yarn and linear ones may state the one before. */
function stretched(text: ConfigObject, rope: ConfigObject, type: unknown, maxPositions: number): number {
  const factor = numberIn(rope, 'factor');
  if (factor === undefined || (type !== 'yarn' && type !== 'linear')) return maxPositions;
  const key = 'original_max_position_embeddings';
  const original = type === 'yarn' ? (numberIn(text, key) ?? numberIn(rope, key)) : undefined;
  return Math.floor((original ?? maxPositions) * factor);
}

function numberIn(object: ConfigObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' ? value : undefined;
}

/** @throws FailureError UnsupportedArchitecture, CheckpointCorrupt */
export function checkWindow(text: ConfigObject, architecture: Architecture): void {
  const slides = text['use_sliding_window'] === true && typeof text['sliding_window'] === 'number';
  if (slides && architecture !== 'qwen3' && architecture !== 'qwen3_moe') {
    throw new FailureError(
      'UnsupportedArchitecture',
      `config.json: use_sliding_window is true, which is not supported for ${architecture}, only for qwen3 and qwen3_moe`,
    );
  }
  const types = text['layer_types'];
  if (!slides && architecture === 'qwen3' && Array.isArray(types) && types.includes('sliding_attention')) {
    throw new FailureError(
      'CheckpointCorrupt',
      'config.json: layer_types names sliding_attention but use_sliding_window is not true',
    );
  }
}
