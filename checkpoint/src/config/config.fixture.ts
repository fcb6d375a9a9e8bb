// config.json of released checkpoints, reduced to the fields that are read; first the reference deployment's
// (Qwen3.6-27B-FP8). For tests of this package and of those that plan with it.

export const qwen36Config = {
  model_type: 'qwen3_5',
  tie_word_embeddings: false,
  quantization_config: {
    quant_method: 'fp8',
    fmt: 'e4m3',
    activation_scheme: 'dynamic',
    weight_block_size: [128, 128],
  },
  text_config: {
    model_type: 'qwen3_5_text',
    num_hidden_layers: 64,
    full_attention_interval: 4,
    hidden_size: 5120,
    num_attention_heads: 24,
    num_key_value_heads: 4,
    head_dim: 256,
    intermediate_size: 17408,
    vocab_size: 248320,
    max_position_embeddings: 262144,
    linear_num_key_heads: 16,
    linear_num_value_heads: 48,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
    linear_conv_kernel_dim: 4,
  },
};

/** Of Qwen3.5-35B-A3B: all layers are mixtures of experts, so that there is no intermediate_size. */
export const qwen35MoeConfig = {
  model_type: 'qwen3_5_moe',
  text_config: {
    model_type: 'qwen3_5_moe_text',
    num_hidden_layers: 40,
    full_attention_interval: 4,
    hidden_size: 2048,
    num_attention_heads: 16,
    num_key_value_heads: 2,
    head_dim: 256,
    vocab_size: 248320,
    max_position_embeddings: 262144,
    linear_num_key_heads: 16,
    linear_num_value_heads: 32,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
    linear_conv_kernel_dim: 4,
    num_experts: 256,
    num_experts_per_tok: 8,
    moe_intermediate_size: 512,
    shared_expert_intermediate_size: 512,
  },
};

/** Of Qwen3-30B-A3B. */
export const qwen3MoeConfig = {
  model_type: 'qwen3_moe',
  num_hidden_layers: 48,
  hidden_size: 2048,
  intermediate_size: 6144,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  head_dim: 128,
  vocab_size: 151936,
  max_position_embeddings: 40960,
  num_experts: 128,
  num_experts_per_tok: 8,
  moe_intermediate_size: 768,
  decoder_sparse_step: 1,
  mlp_only_layers: [],
};

/** Of Mixtral-8x7B. */
export const mixtralConfig = {
  model_type: 'mixtral',
  num_hidden_layers: 32,
  hidden_size: 4096,
  intermediate_size: 14336,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 32000,
  max_position_embeddings: 32768,
  num_local_experts: 8,
  num_experts_per_tok: 2,
  sliding_window: null,
};

/** Of gpt-oss-20b. */
export const gptOssConfig = {
  architectures: ['GptOssForCausalLM'],
  model_type: 'gpt_oss',
  attention_bias: true,
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 2880,
  initial_context_length: 4096,
  intermediate_size: 2880,
  layer_types: Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? 'sliding_attention' : 'full_attention')),
  max_position_embeddings: 131072,
  num_attention_heads: 64,
  num_experts_per_tok: 4,
  num_hidden_layers: 24,
  num_key_value_heads: 8,
  num_local_experts: 32,
  quantization_config: {
    modules_to_not_convert: [
      'model.layers.*.self_attn',
      'model.layers.*.mlp.router',
      'model.embed_tokens',
      'lm_head',
    ],
    quant_method: 'mxfp4',
  },
  rms_norm_eps: 1e-5,
  rope_scaling: {
    beta_fast: 32,
    beta_slow: 1,
    factor: 32,
    original_max_position_embeddings: 4096,
    rope_type: 'yarn',
    truncate: false,
  },
  rope_theta: 150000,
  sliding_window: 128,
  swiglu_limit: 7,
  tie_word_embeddings: false,
  vocab_size: 201088,
};

/** Of GLM-4.5-Air. */
export const glm4MoeConfig = {
  architectures: ['Glm4MoeForCausalLM'],
  model_type: 'glm4_moe',
  attention_bias: true,
  first_k_dense_replace: 1,
  head_dim: 128,
  hidden_act: 'silu',
  hidden_size: 4096,
  intermediate_size: 10944,
  max_position_embeddings: 131072,
  moe_intermediate_size: 1408,
  n_group: 1,
  n_routed_experts: 128,
  n_shared_experts: 1,
  norm_topk_prob: true,
  num_attention_heads: 96,
  num_experts_per_tok: 8,
  num_hidden_layers: 46,
  num_key_value_heads: 8,
  num_nextn_predict_layers: 1,
  partial_rotary_factor: 0.5,
  rms_norm_eps: 1e-5,
  rope_scaling: null,
  rope_theta: 1000000,
  routed_scaling_factor: 1,
  tie_word_embeddings: false,
  topk_group: 1,
  use_qk_norm: false,
  vocab_size: 151552,
};

/** Of EuroBERT-210m. */
export const euroBertConfig = {
  architectures: ['EuroBertForMaskedLM'],
  model_type: 'eurobert',
  attention_bias: false,
  clf_pooling: 'late',
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 768,
  intermediate_size: 3072,
  is_causal: false,
  mask_token_id: 128002,
  max_position_embeddings: 8192,
  mlp_bias: false,
  num_attention_heads: 12,
  num_hidden_layers: 12,
  num_key_value_heads: 12,
  rms_norm_eps: 1e-5,
  rope_scaling: null,
  rope_theta: 250000,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
  use_cache: false,
  vocab_size: 128256,
};

/** Of gemma-3-4b-it, which leaves out all that transformers has by itself. */
export const gemma3Config = {
  model_type: 'gemma3',
  torch_dtype: 'bfloat16',
  text_config: {
    model_type: 'gemma3_text',
    hidden_size: 2560,
    intermediate_size: 10240,
    num_hidden_layers: 34,
    rope_scaling: { factor: 8, rope_type: 'linear' },
    sliding_window: 1024,
  },
  vision_config: { hidden_size: 1152 },
};

/** Of gemma-2-9b-it. */
export const gemma2Config = {
  model_type: 'gemma2',
  torch_dtype: 'bfloat16',
  hidden_size: 3584,
  intermediate_size: 14336,
  num_hidden_layers: 42,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 256,
  query_pre_attn_scalar: 256,
  hidden_act: 'gelu_pytorch_tanh',
  hidden_activation: 'gelu_pytorch_tanh',
  attn_logit_softcapping: 50,
  final_logit_softcapping: 30,
  sliding_window: 4096,
  vocab_size: 256000,
  max_position_embeddings: 8192,
};

/** Of a small Llama, with no more fields than one needs. */
export const llamaConfig = {
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  intermediate_size: 128,
  vocab_size: 256,
  max_position_embeddings: 512,
};

/** Of gemma-4-26B-A4B-it. */
export const gemma4MoeConfig = {
  model_type: 'gemma4',
  dtype: 'bfloat16',
  text_config: {
    model_type: 'gemma4_text',
    attention_k_eq_v: true,
    enable_moe_block: true,
    final_logit_softcapping: 30,
    global_head_dim: 512,
    head_dim: 256,
    hidden_activation: 'gelu_pytorch_tanh',
    hidden_size: 2816,
    hidden_size_per_layer_input: 0,
    intermediate_size: 2112,
    max_position_embeddings: 262144,
    moe_intermediate_size: 704,
    num_attention_heads: 16,
    num_experts: 128,
    num_global_key_value_heads: 2,
    num_hidden_layers: 30,
    num_key_value_heads: 8,
    num_kv_shared_layers: 0,
    sliding_window: 1024,
    top_k_experts: 8,
    use_bidirectional_attention: 'vision',
    vocab_size: 262144,
  },
  vision_config: { hidden_size: 1152 },
};
