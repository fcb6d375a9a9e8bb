// A small checkpoint as it lies in a bucket: all its tensors are there, its weights are zeros.

import { llamaConfig, llamaFinalNorm, llamaTensors } from './llama.js';
import { safetensors, safetensorsHead, type Tensors } from './safetensors.js';

const size = { layers: 2, hidden: 64, heads: 4, kvHeads: 2, headDim: 16, ffn: 128, vocab: 256 };

/** A llama of two shards with an index; the second holds the final norm alone. */
export function llamaCheckpoint(config: object = {}): Record<string, string | Uint8Array> {
  const last = llamaFinalNorm(size);
  const first = Object.fromEntries(Object.entries(llamaTensors(size)).filter(([name]) => !(name in last)));
  const [a, b] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  const weight_map = { ...placedIn(a, first), ...placedIn(b, last) };
  const total_size = safetensorsHead(first).dataBytes + safetensorsHead(last).dataBytes;
  return {
    'config.json': JSON.stringify({ ...llamaConfig(size), max_position_embeddings: 512, ...config }),
    'tokenizer.json': '{}',
    'model.safetensors.index.json': JSON.stringify({ metadata: { total_size }, weight_map }),
    [a]: safetensors(first),
    [b]: safetensors(last),
  };
}

const placedIn = (file: string, tensors: Tensors): Record<string, string> =>
  Object.fromEntries(Object.keys(tensors).map((name) => [name, file]));
