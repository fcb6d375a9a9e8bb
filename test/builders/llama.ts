// Llamas of any size: their config.json and their tensors in BF16, with tied embeddings.

import { bf16Tensor, type Tensors } from './safetensors.js';

export interface LlamaSize {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffn: number;
  readonly vocab: number;
}

export function llamaConfig({ layers, hidden, heads, kvHeads, headDim, ffn, vocab }: LlamaSize) {
  return {
    model_type: 'llama',
    num_hidden_layers: layers,
    hidden_size: hidden,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    intermediate_size: ffn,
    vocab_size: vocab,
    max_position_embeddings: 1024,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    tie_word_embeddings: true,
  };
}

export function llamaEmbedding({ hidden, vocab }: LlamaSize): Tensors {
  return { 'model.embed_tokens.weight': bf16Tensor(vocab, hidden) };
}

export function llamaFinalNorm({ hidden }: LlamaSize): Tensors {
  return { 'model.norm.weight': bf16Tensor(hidden) };
}

export function llamaLayer({ hidden, heads, kvHeads, headDim, ffn }: LlamaSize, index: number): Tensors {
  const prefix = `model.layers.${String(index)}.`;
  return {
    [`${prefix}input_layernorm.weight`]: bf16Tensor(hidden),
    [`${prefix}post_attention_layernorm.weight`]: bf16Tensor(hidden),
    [`${prefix}self_attn.q_proj.weight`]: bf16Tensor(heads * headDim, hidden),
    [`${prefix}self_attn.k_proj.weight`]: bf16Tensor(kvHeads * headDim, hidden),
    [`${prefix}self_attn.v_proj.weight`]: bf16Tensor(kvHeads * headDim, hidden),
    [`${prefix}self_attn.o_proj.weight`]: bf16Tensor(hidden, heads * headDim),
    [`${prefix}mlp.gate_proj.weight`]: bf16Tensor(ffn, hidden),
    [`${prefix}mlp.up_proj.weight`]: bf16Tensor(ffn, hidden),
    [`${prefix}mlp.down_proj.weight`]: bf16Tensor(hidden, ffn),
  };
}

/** All tensors, in the order in which a step reads them. */
export function llamaTensors(size: LlamaSize): Tensors {
  const layers = Array.from({ length: size.layers }, (_, index) => llamaLayer(size, index));
  return Object.assign({}, llamaEmbedding(size), ...layers, llamaFinalNorm(size)) as Tensors;
}
