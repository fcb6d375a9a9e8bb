// What transformers takes for fields that a config.json of Gemma 4 leaves out, where that is not as of other Gemmas.

export const gemma4Defaults = {
  vocab_size: 262_144,
  max_position_embeddings: 131_072,
  sliding_window: 512,
  sliding_window_pattern: 6,
  global_head_dim: 512,
  hidden_size_per_layer_input: 256,
  vocab_size_per_layer_input: 262_144,
  num_kv_shared_layers: 0,
  attention_bias: false,
  rope_parameters: {
    sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
    full_attention: { rope_type: 'proportional', rope_theta: 1_000_000, partial_rotary_factor: 0.25 },
  },
} as const;
