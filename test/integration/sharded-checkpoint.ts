// A llama of 179 MB in two files that takes eleven pieces to pull. The first file holds the last layers and the second
// one the first: who reads in the order of the files waits for nearly everything. Every value depends on its place.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../builders/files.js';
import { llamaConfig, llamaEmbedding, llamaFinalNorm, llamaLayer } from '../builders/llama.js';
import { bf16Noise, safetensors } from '../builders/safetensors.js';
import { demoCheckpoint } from './replica-process.js';

const size = { layers: 6, hidden: 1024, heads: 16, kvHeads: 4, headDim: 64, ffn: 4096, vocab: 1024 };
const layer = (index: number) => llamaLayer(size, index);

export const lateLayers = 'model-00001-of-00002.safetensors';
export const earlyLayers = 'model-00002-of-00002.safetensors';

export interface ShardedCheckpoint {
  readonly files: Files;
  /** By file name, in hexadecimal. */
  readonly sha256: ReadonlyMap<string, string>;
}

export function shardedCheckpoint(): ShardedCheckpoint {
  const late = { ...layer(3), ...layer(4), ...layer(5), ...llamaFinalNorm(size) };
  const early = { ...llamaEmbedding(size), ...layer(0), ...layer(1), ...layer(2) };
  const noise = bf16Noise();
  const weights = { [lateLayers]: safetensors(late, noise), [earlyLayers]: safetensors(early, noise) };
  const weightMap = {
    ...Object.fromEntries(Object.keys(late).map((name) => [name, lateLayers])),
    ...Object.fromEntries(Object.keys(early).map((name) => [name, earlyLayers])),
  };
  const files = {
    'config.json': Buffer.from(JSON.stringify(llamaConfig(size))),
    'tokenizer.json': readFileSync(join(demoCheckpoint, 'tokenizer.json')),
    'model.safetensors.index.json': Buffer.from(JSON.stringify({ metadata: {}, weight_map: weightMap })),
    ...weights,
  };
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  return { files, sha256: new Map(Object.entries(weights).map(([name, bytes]) => [name, digest(bytes)])) };
}
