// A llama of 179 MB in two files that takes eleven pieces to pull. The first file holds the last layers and the second
// one the first: who reads in the order of the files waits for nearly everything. Every value depends on its place.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { demoCheckpoint } from './replica-process.js';

const layers = 6;
const hidden = 1024;
const ffn = 4096;
const vocab = 1024;

export const lateLayers = 'model-00001-of-00002.safetensors';
export const earlyLayers = 'model-00002-of-00002.safetensors';

export interface ShardedCheckpoint {
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** By file name, in hexadecimal. */
  readonly sha256: ReadonlyMap<string, string>;
}

export function shardedCheckpoint(): ShardedCheckpoint {
  const late = { ...layer(3), ...layer(4), ...layer(5), 'model.norm.weight': [hidden] };
  const early = { 'model.embed_tokens.weight': [vocab, hidden], ...layer(0), ...layer(1), ...layer(2) };
  const weights = { [lateLayers]: safetensors(late), [earlyLayers]: safetensors(early) };
  const weightMap = {
    ...Object.fromEntries(Object.keys(late).map((name) => [name, lateLayers])),
    ...Object.fromEntries(Object.keys(early).map((name) => [name, earlyLayers])),
  };
  const files = {
    'config.json': Buffer.from(JSON.stringify(config)),
    'tokenizer.json': readFileSync(join(demoCheckpoint, 'tokenizer.json')),
    'model.safetensors.index.json': Buffer.from(JSON.stringify({ metadata: {}, weight_map: weightMap })),
    ...weights,
  };
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  return { files, sha256: new Map(Object.entries(weights).map(([name, bytes]) => [name, digest(bytes)])) };
}

export function writeFiles(dir: string, files: Readonly<Record<string, Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

const config = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: hidden,
  intermediate_size: ffn,
  num_hidden_layers: layers,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  vocab_size: vocab,
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: true,
};

function layer(index: number): Record<string, number[]> {
  const prefix = `model.layers.${String(index)}.`;
  return {
    [`${prefix}input_layernorm.weight`]: [hidden],
    [`${prefix}post_attention_layernorm.weight`]: [hidden],
    [`${prefix}self_attn.q_proj.weight`]: [hidden, hidden],
    [`${prefix}self_attn.k_proj.weight`]: [hidden / 4, hidden],
    [`${prefix}self_attn.v_proj.weight`]: [hidden / 4, hidden],
    [`${prefix}self_attn.o_proj.weight`]: [hidden, hidden],
    [`${prefix}mlp.gate_proj.weight`]: [ffn, hidden],
    [`${prefix}mlp.up_proj.weight`]: [ffn, hidden],
    [`${prefix}mlp.down_proj.weight`]: [hidden, ffn],
  };
}

function safetensors(shapes: Readonly<Record<string, readonly number[]>>): Buffer {
  let end = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = end;
    end += 2 * shape.reduce((product, side) => product * side, 1);
    return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return Buffer.concat([length, header, Buffer.alloc(end, bf16Pattern())]);
}

/** Values of 0.008 to 0.06 of either sign; its length, a prime, shares no factor with the width of any matrix. */
function bf16Pattern(): Buffer {
  const values = Uint16Array.from({ length: 65_537 }, (_, i) => {
    const noise = Math.imul(i + 1, 0x9e3779b1) >>> 16;
    return ((noise & 1) << 15) | (0x3c00 + ((noise >> 1) % 0x180));
  });
  return Buffer.from(values.buffer);
}
