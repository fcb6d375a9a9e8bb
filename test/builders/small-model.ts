// A model whose layer adds nothing: a draft model of method draft_model.

import type { Files } from './files.js';
import { readStoredTensors, storedFile, type StoredTensor } from './stored-tensors.js';

/** With the vocabulary, the table and so the next tokens of the demo model in `folder`, had it no layers. */
export function layerlessModel(folder: string): Files {
  const { hidden, vocab, ffn } = { hidden: 256, vocab: 2048, ffn: 64 };
  const filled = (shape: number[], value: number): StoredTensor => {
    const values = new Float32Array(shape.reduce((product, side) => product * side, 1)).fill(value);
    return { dtype: 'F32', shape, data: Buffer.from(values.buffer) };
  };
  const [, table] = [...readStoredTensors(folder)].find(([name]) => name.includes('embed_tokens'))!;
  const square = filled([hidden, hidden], 0);
  const layer = {
    ...{ input_layernorm: filled([hidden], 1), post_attention_layernorm: filled([hidden], 1) },
    ...{ 'self_attn.q_proj': square, 'self_attn.k_proj': square },
    ...{ 'self_attn.v_proj': square, 'self_attn.o_proj': square },
    ...{ 'mlp.gate_proj': filled([ffn, hidden], 0), 'mlp.up_proj': filled([ffn, hidden], 0) },
    'mlp.down_proj': filled([hidden, ffn], 0),
  };
  const tensors = new Map<string, StoredTensor>([
    ['model.embed_tokens.weight', table],
    ...Object.entries(layer).map(([name, tensor]) => [`model.layers.0.${name}.weight`, tensor] as const),
    ['model.norm.weight', filled([hidden], 1)],
  ]);
  const config = {
    ...{ model_type: 'llama', num_hidden_layers: 1, hidden_size: hidden, intermediate_size: ffn },
    ...{ num_attention_heads: 4, num_key_value_heads: 4, vocab_size: vocab, max_position_embeddings: 4096 },
    tie_word_embeddings: true,
  };
  return { 'config.json': Buffer.from(JSON.stringify(config)), 'model.safetensors': storedFile(tensors) };
}
