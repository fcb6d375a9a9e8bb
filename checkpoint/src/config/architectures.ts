// What config.json leaves to the code of a model, by its model_type: one row per architecture, as its modeling code in
// transformers has it. A model made of operations that the engine has needs a row here and nothing else.

import type { Architecture } from './architecture.js';
import { gemma4Defaults } from './gemma4-defaults.js';

const dense = {
  switch: null,
  headDim: null,
  kvHeads: 'required',
  biases: { qkv: 'attention_bias', output: 'attention_bias', mlp: 'none' },
  qkNorm: false,
  window: null,
  hybrid: null,
  gemma: null,
  gptOss: false,
  sigmoidExperts: false,
  encoder: false,
  modernBert: false,
  bert: null,
  defaults: {},
  experts: null,
  renamed: [],
  stacked: [],
} as const;

const hybrid = { ...dense, headDim: 256, qkNorm: true, hybrid: { interleaved: false } } as const;

/** Of both Gemmas, whose releases leave out much. */
const gemma = {
  ...dense,
  window: { switch: null, layers: 'pattern' },
  defaults: {
    hidden_activation: 'gelu_pytorch_tanh',
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    query_pre_attn_scalar: 256,
    sliding_window: 4096,
    tie_word_embeddings: true,
  },
} as const;

/** Of BERT's kind, whose tensors have one set of names below that of the model. */
const bert = {
  ...dense,
  kvHeads: 'heads',
  biases: { qkv: 'always', output: 'always', mlp: 'always' },
  encoder: true,
} as const;

const bertNames = [
  ['embeddings.word_embeddings.', 'embed_tokens.'],
  ['embeddings.position_embeddings.', 'embed_positions.'],
  ['embeddings.token_type_embeddings.', 'embed_types.'],
  ['embeddings.LayerNorm.', 'embed_norm.'],
  ['encoder.layer.', 'layers.'],
  ['.attention.self.query.', '.self_attn.q_proj.'],
  ['.attention.self.key.', '.self_attn.k_proj.'],
  ['.attention.self.value.', '.self_attn.v_proj.'],
  ['.attention.output.dense.', '.self_attn.o_proj.'],
  ['.attention.output.LayerNorm.', '.post_attention_layernorm.'],
  ['.intermediate.dense.', '.mlp.up_proj.'],
  ['.output.dense.', '.mlp.down_proj.'],
  ['.output.LayerNorm.', '.post_feedforward_layernorm.'],
] as const;

const gemma4 = {
  ...gemma,
  modelTypes: ['gemma4', 'gemma4_text'],
  biases: { qkv: 'none', output: 'none', mlp: 'none' },
  qkNorm: true,
  gemma: { cappedScores: false, localRope: true, fourth: true },
  defaults: { ...gemma.defaults, ...gemma4Defaults },
} as const;

export const architectures: readonly Architecture[] = [
  {
    ...dense,
    name: 'llama',
    modelTypes: ['llama'],
    kvHeads: 'heads',
    biases: { qkv: 'attention_bias', output: 'attention_bias', mlp: 'mlp_bias' },
  },
  {
    ...dense,
    name: 'mistral',
    modelTypes: ['mistral', 'mistral3'],
    biases: { qkv: 'none', output: 'none', mlp: 'none' },
    window: { switch: null, layers: 'all' },
  },
  {
    ...dense,
    name: 'mixtral',
    modelTypes: ['mixtral'],
    biases: { qkv: 'none', output: 'none', mlp: 'none' },
    window: { switch: null, layers: 'all' },
    experts: { shared: false, everyLayer: true, normalized: 'always', width: 'intermediate_size' },
    renamed: [
      ['.block_sparse_moe.', '.mlp.'],
      ['.w1.', '.gate_proj.'],
      ['.w2.', '.down_proj.'],
      ['.w3.', '.up_proj.'],
    ],
  },
  {
    ...dense,
    name: 'qwen2',
    modelTypes: ['qwen2'],
    biases: { qkv: 'always', output: 'none', mlp: 'none' },
    window: { switch: 'use_sliding_window', layers: 'named' },
  },
  {
    ...dense,
    name: 'qwen3',
    modelTypes: ['qwen3', 'qwen3_vl'],
    headDim: 128,
    qkNorm: true,
    window: { switch: 'use_sliding_window', layers: 'named' },
  },
  {
    ...dense,
    name: 'qwen3_moe',
    modelTypes: ['qwen3_moe'],
    qkNorm: true,
    window: { switch: 'use_sliding_window', layers: 'all' },
    experts: { shared: false, everyLayer: false, normalized: false, width: 'moe_intermediate_size' },
  },
  {
    ...dense,
    name: 'gpt_oss',
    modelTypes: ['gpt_oss'],
    headDim: 64,
    window: { switch: null, layers: 'pattern' },
    gptOss: true,
    defaults: {
      attention_bias: true,
      sliding_window: 128,
      sliding_window_pattern: 2,
      rms_norm_eps: 1e-5,
      max_position_embeddings: 131_072,
      rope_theta: 150_000,
      rope_scaling: {
        ...{ rope_type: 'yarn', factor: 32, beta_fast: 32, beta_slow: 1, truncate: false },
        original_max_position_embeddings: 4096,
      },
    },
    experts: { shared: false, everyLayer: true, normalized: 'always', width: 'intermediate_size' },
    renamed: [
      ['.mlp.router.', '.mlp.gate.'],
      ['.experts.gate_up_proj_bias', '.experts.gate_up_proj.bias'],
      ['.experts.down_proj_bias', '.experts.down_proj.bias'],
    ],
  },
  {
    ...dense,
    name: 'glm4_moe',
    modelTypes: ['glm4_moe'],
    biases: { qkv: 'attention_bias', output: 'none', mlp: 'none' },
    qkNorm: 'use_qk_norm',
    sigmoidExperts: true,
    defaults: {
      ...{ rms_norm_eps: 1e-5, partial_rotary_factor: 0.5, first_k_dense_replace: 1, n_shared_experts: 1 },
      ...{ n_group: 1, topk_group: 1, routed_scaling_factor: 1 },
    },
    experts: { shared: true, everyLayer: false, normalized: true, width: 'moe_intermediate_size' },
    renamed: [['.mlp.shared_experts.', '.mlp.shared_expert.']],
  },
  {
    ...dense,
    name: 'eurobert',
    modelTypes: ['eurobert'],
    kvHeads: 'heads',
    biases: { qkv: 'attention_bias', output: 'attention_bias', mlp: 'mlp_bias' },
    encoder: true,
    defaults: { rms_norm_eps: 1e-5 },
  },
  {
    ...dense,
    name: 'modernbert',
    modelTypes: ['modernbert'],
    kvHeads: 'heads',
    biases: { qkv: 'attention_bias', output: 'attention_bias', mlp: 'mlp_bias' },
    encoder: true,
    modernBert: true,
    // Null is another thing than its absence: windows then rotate as all else does.
    defaults: { local_rope_theta: 10_000 },
    renamed: [
      ['embeddings.tok_embeddings.', 'embed_tokens.'],
      ['embeddings.norm.', 'embed_norm.'],
      ['final_norm.', 'norm.'],
      ['.attn_norm.', '.input_layernorm.'],
      ['.mlp_norm.', '.post_attention_layernorm.'],
      ['.attn.Wo.', '.self_attn.o_proj.'],
      ['.mlp.Wo.', '.mlp.down_proj.'],
    ],
    stacked: [
      ['.attn.Wqkv.', ['.self_attn.q_proj.', '.self_attn.k_proj.', '.self_attn.v_proj.']],
      ['.mlp.Wi.', ['.mlp.gate_proj.', '.mlp.up_proj.']],
    ],
  },
  {
    ...bert,
    name: 'xlm-roberta',
    modelTypes: ['xlm-roberta'],
    bert: { padded: true },
    defaults: { pad_token_id: 1, type_vocab_size: 2, layer_norm_eps: 1e-12 },
    renamed: [['roberta.', ''], ...bertNames],
  },
  {
    ...gemma,
    name: 'gemma2',
    modelTypes: ['gemma2'],
    gemma: { cappedScores: true, localRope: false, fourth: false },
    defaults: {
      ...gemma.defaults,
      ...{ vocab_size: 256_000, max_position_embeddings: 8192, sliding_window_pattern: 2 },
      ...{ attn_logit_softcapping: 50, final_logit_softcapping: 30 },
    },
  },
  {
    ...gemma,
    name: 'gemma3',
    modelTypes: ['gemma3', 'gemma3_text'],
    qkNorm: true,
    gemma: { cappedScores: false, localRope: true, fourth: false },
    defaults: {
      ...gemma.defaults,
      ...{ vocab_size: 262_208, max_position_embeddings: 131_072, sliding_window_pattern: 6 },
      ...{ rope_theta: 1_000_000, rope_local_base_freq: 10_000 },
    },
  },
  {
    ...gemma4,
    name: 'gemma4_moe',
    switch: 'enable_moe_block',
    experts: { shared: true, everyLayer: true, normalized: 'always', width: 'moe_intermediate_size' },
    renamed: [
      ['.mlp.', '.mlp.shared_expert.'],
      ['.experts.', '.mlp.experts.'],
      ['.router.proj.', '.mlp.gate.'],
    ],
  },
  { ...gemma4, name: 'gemma4' },
  {
    ...hybrid,
    name: 'qwen3_next',
    modelTypes: ['qwen3_next'],
    hybrid: { interleaved: true },
    experts: { shared: true, everyLayer: false, normalized: true, width: 'moe_intermediate_size' },
  },
  { ...hybrid, name: 'qwen3_5', modelTypes: ['qwen3_5', 'qwen3_5_text'] },
  {
    ...hybrid,
    name: 'qwen3_5_moe',
    modelTypes: ['qwen3_5_moe', 'qwen3_5_moe_text'],
    experts: { shared: true, everyLayer: true, normalized: 'always', width: 'moe_intermediate_size' },
  },
];

/** By the name in a shape; null where there is none. */
export function architectureNamed(name: string): Architecture | null {
  return architectures.find((each) => each.name === name) ?? null;
}

export const supportedModelTypes: readonly string[] = [
  ...new Set(architectures.flatMap(({ modelTypes }) => modelTypes)),
];
