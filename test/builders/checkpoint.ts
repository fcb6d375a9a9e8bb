// A small checkpoint as it lies in a bucket: its config and its index are whole, its weights are zeros.

import { llamaConfig, llamaEmbedding, llamaFinalNorm } from './llama.js';
import { safetensors } from './safetensors.js';

const size = { layers: 2, hidden: 64, heads: 4, kvHeads: 2, headDim: 16, ffn: 128, vocab: 256 };

/** A llama of two shards with an index; of its tensors, the first and the last. */
export function llamaCheckpoint(config: object = {}): Record<string, string | Uint8Array> {
  const [a, b] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  const weight_map = { 'model.embed_tokens.weight': a, 'model.norm.weight': b };
  return {
    'config.json': JSON.stringify({ ...llamaConfig(size), max_position_embeddings: 512, ...config }),
    'tokenizer.json': '{}',
    'model.safetensors.index.json': JSON.stringify({ metadata: { total_size: 32896 }, weight_map }),
    [a]: safetensors(llamaEmbedding(size)),
    [b]: safetensors(llamaFinalNorm(size)),
  };
}
