// An EAGLE-3 draft model whose layer adds nothing.

import type { Files } from './files.js';
import { readStoredTensors, storedFile, type StoredTensor } from './stored-tensors.js';

/** For the demo model in `folder`: what its last layer gives, under its own head. */
export function lastHiddenDrafter(folder: string): Files {
  const { hidden, vocab, ffn } = { hidden: 256, vocab: 2048, ffn: 64 };
  const matrix = (rows: number, cols: number, at: (row: number, col: number) => number): StoredTensor => {
    const values = Float32Array.from({ length: rows * cols }, (_, i) => at(Math.floor(i / cols), i % cols));
    return { dtype: 'F32', shape: [rows, cols], data: Buffer.from(values.buffer) };
  };
  const zeros = (rows: number, cols: number): StoredTensor => matrix(rows, cols, () => 0);
  const ones = (): StoredTensor => ({ ...matrix(1, hidden, () => 1), shape: [hidden] });
  const [, table] = [...readStoredTensors(folder)].find(([name]) => name.includes('embed_tokens'))!;
  const layer = {
    ...{ input_layernorm: ones(), hidden_norm: ones(), post_attention_layernorm: ones() },
    ...{ 'self_attn.q_proj': zeros(hidden, 2 * hidden), 'self_attn.k_proj': zeros(hidden, 2 * hidden) },
    ...{ 'self_attn.v_proj': zeros(hidden, 2 * hidden), 'self_attn.o_proj': zeros(hidden, hidden) },
    ...{
      'mlp.gate_proj': zeros(ffn, hidden),
      'mlp.up_proj': zeros(ffn, hidden),
      'mlp.down_proj': zeros(hidden, ffn),
    },
  };
  const tensors = new Map<string, StoredTensor>([
    ['fc.weight', matrix(hidden, 3 * hidden, (row, col) => (col === 2 * hidden + row ? 1 : 0))],
    ...Object.entries(layer).map(([name, tensor]) => [`midlayer.${name}.weight`, tensor] as const),
    ['norm.weight', ones()],
    ['lm_head.weight', table],
  ]);
  const config = {
    ...{ architectures: ['LlamaForCausalLMEagle3'], model_type: 'llama', num_hidden_layers: 1 },
    ...{ hidden_size: hidden, intermediate_size: ffn, num_attention_heads: 4, vocab_size: vocab },
    ...{ max_position_embeddings: 4096, eagle_aux_hidden_state_layer_ids: [6, 7, 8] },
  };
  return {
    'config.json': Buffer.from(JSON.stringify({ ...config, draft_vocab_size: vocab })),
    'model.safetensors': storedFile(tensors),
  };
}
