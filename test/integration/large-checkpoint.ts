// A checkpoint of zeros that takes a second or so to load: a sparse file, which costs no disk.

import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const layers = 8;
const hidden = 2048;
const ffn = 8192;
const vocab = 1024;

/** Writes config.json and model.safetensors of a llama of about 800 MB. */
export function writeLargeCheckpoint(dir: string): void {
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
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const [name, shape] of Object.entries(shapes())) {
    const bytes = 2 * shape.reduce((product, side) => product * side, 1);
    header[name] = { dtype: 'BF16', shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = openSync(join(dir, 'model.safetensors'), 'w');
  writeSync(file, Buffer.concat([length, text]));
  ftruncateSync(file, 8 + text.length + offset);
  closeSync(file);
}

function shapes(): Record<string, number[]> {
  const all: Record<string, number[]> = {
    'model.embed_tokens.weight': [vocab, hidden],
    'model.norm.weight': [hidden],
  };
  for (let layer = 0; layer < layers; layer++) {
    const prefix = `model.layers.${String(layer)}.`;
    Object.assign(all, {
      [`${prefix}input_layernorm.weight`]: [hidden],
      [`${prefix}post_attention_layernorm.weight`]: [hidden],
      [`${prefix}self_attn.q_proj.weight`]: [hidden, hidden],
      [`${prefix}self_attn.k_proj.weight`]: [hidden / 4, hidden],
      [`${prefix}self_attn.v_proj.weight`]: [hidden / 4, hidden],
      [`${prefix}self_attn.o_proj.weight`]: [hidden, hidden],
      [`${prefix}mlp.gate_proj.weight`]: [ffn, hidden],
      [`${prefix}mlp.up_proj.weight`]: [ffn, hidden],
      [`${prefix}mlp.down_proj.weight`]: [hidden, ffn],
    });
  }
  return all;
}
