// config.json of the reference deployment's checkpoint (Qwen3.6-27B-FP8), reduced to the fields that are read.
// For tests of this package and of those that plan with it.

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
