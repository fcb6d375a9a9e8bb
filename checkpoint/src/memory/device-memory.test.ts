// What a GPU is planned to hold of the tiny models of native/test/tiny_checkpoint.h, against what engines take of the
// emulated one: native/test/gpu/emulated_memory_engine_test.cc has the same numbers.

import { expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '../config/read-config.js';
import { deviceWorkspaceBytes } from './device-workspace.js';
import { drafterWorkspaceBytes } from './drafter-workspace.js';
import { withDraftHead } from '../weights/draft-head.js';
import { rankWeightBytes } from '../weights/rank-weights.js';
import { joinedWeights, residentWeights } from '../weights/resident-weights.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { adapterBytes, adapterWorkspaceBytes } from './adapter-room.js';
import { workspaceBytes } from './workspace.js';

const llamaConfig = {
  model_type: 'llama',
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 96,
  vocab_size: 211,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: true,
};
const hybridConfig = {
  ...llamaConfig,
  model_type: 'qwen3_5_text',
  head_dim: 16,
  layer_types: ['linear_attention', 'full_attention'],
  linear_num_key_heads: 2,
  linear_num_value_heads: 4,
  linear_key_head_dim: 16,
  linear_value_head_dim: 16,
  linear_conv_kernel_dim: 4,
  rope_parameters: { rope_theta: 10000, partial_rotary_factor: 0.25 },
};

type Sizes = Record<string, number[]>;

const shared = (layer: string): Sizes => ({
  [`${layer}input_layernorm.weight`]: [64],
  [`${layer}post_attention_layernorm.weight`]: [64],
  [`${layer}mlp.gate_proj.weight`]: [96, 64],
  [`${layer}mlp.up_proj.weight`]: [96, 64],
  [`${layer}mlp.down_proj.weight`]: [64, 96],
});
const attention = (layer: string, queries: number): Sizes => ({
  [`${layer}self_attn.q_proj.weight`]: [queries, 64],
  [`${layer}self_attn.k_proj.weight`]: [32, 64],
  [`${layer}self_attn.v_proj.weight`]: [32, 64],
  [`${layer}self_attn.o_proj.weight`]: [64, 64],
});
const tables: Sizes = { 'model.embed_tokens.weight': [211, 64], 'model.norm.weight': [64] };
const [first, second] = ['model.layers.0.', 'model.layers.1.'] as const;
const llama: Sizes = {
  ...{ ...tables, ...shared(first), ...shared(second) },
  ...{ ...attention(first, 64), ...attention(second, 64) },
};
const hybrid: Sizes = {
  ...{ ...tables, ...shared(first), ...shared(second), ...attention(second, 128) },
  [`${second}self_attn.q_norm.weight`]: [16],
  [`${second}self_attn.k_norm.weight`]: [16],
  [`${first}linear_attn.in_proj_qkv.weight`]: [128, 64],
  [`${first}linear_attn.in_proj_z.weight`]: [64, 64],
  [`${first}linear_attn.in_proj_b.weight`]: [4, 64],
  [`${first}linear_attn.in_proj_a.weight`]: [4, 64],
  [`${first}linear_attn.conv1d.weight`]: [128, 1, 4],
  [`${first}linear_attn.A_log`]: [4],
  [`${first}linear_attn.dt_bias`]: [4],
  [`${first}linear_attn.norm.weight`]: [16],
  [`${first}linear_attn.out_proj.weight`]: [64, 64],
};

const mixture = (layer: string, sharedWidth: number): Sizes => ({
  [`${layer}mlp.gate.weight`]: [3, 64],
  [`${layer}mlp.experts.gate_proj`]: [3, 160, 64],
  [`${layer}mlp.experts.up_proj`]: [3, 160, 64],
  [`${layer}mlp.experts.down_proj`]: [3, 64, 160],
  [`${layer}mlp.shared_expert.gate_proj.weight`]: [sharedWidth, 64],
  [`${layer}mlp.shared_expert.up_proj.weight`]: [sharedWidth, 64],
  [`${layer}mlp.shared_expert.down_proj.weight`]: [64, sharedWidth],
});
const headNorms = (layer: string, headDim: number): Sizes => ({
  [`${layer}self_attn.q_norm.weight`]: [headDim],
  [`${layer}self_attn.k_norm.weight`]: [headDim],
});
const widths = (layer: string, names: readonly string[], width: number): Sizes =>
  Object.fromEntries(names.map((name) => [`${layer}${name}`, [width]]));

const glmConfig = {
  ...{ ...llamaConfig, model_type: 'glm4_moe', head_dim: 16, use_qk_norm: true, attention_bias: true },
  ...{ n_routed_experts: 3, num_experts_per_tok: 2, moe_intermediate_size: 160 },
};
const glmAttention = (layer: string): Sizes => ({
  ...attention(layer, 64),
  ...headNorms(layer, 16),
  ...widths(layer, ['self_attn.q_proj.bias'], 64),
  ...widths(layer, ['self_attn.k_proj.bias', 'self_attn.v_proj.bias'], 32),
});
const glm: Sizes = {
  ...{ ...tables, ...shared(first), ...glmAttention(first), ...glmAttention(second) },
  ...widths(second, ['input_layernorm.weight', 'post_attention_layernorm.weight'], 64),
  ...{ ...mixture(second, 160), [`${second}mlp.gate.e_score_correction_bias`]: [3] },
};

const gemmaConfig = {
  ...{ ...llamaConfig, model_type: 'gemma4_text', head_dim: 16, num_attention_heads: 2 },
  ...{ global_head_dim: 32, num_global_key_value_heads: 1, attention_k_eq_v: true, attention_bias: false },
  ...{ layer_types: ['sliding_attention', 'full_attention'], sliding_window: 24 },
  ...{ enable_moe_block: true, num_experts: 3, top_k_experts: 2, moe_intermediate_size: 160 },
  ...{ final_logit_softcapping: 5, hidden_size_per_layer_input: 0, num_kv_shared_layers: 0 },
  hidden_activation: 'gelu_pytorch_tanh',
  rope_parameters: {
    sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
    full_attention: { rope_type: 'proportional', rope_theta: 1_000_000, partial_rotary_factor: 0.25 },
  },
};
const gemmaLayer = (layer: string, headDim: number): Sizes => ({
  ...{ ...headNorms(layer, headDim), ...mixture(layer, 96) },
  [`${layer}self_attn.q_proj.weight`]: [2 * headDim, 64],
  [`${layer}self_attn.k_proj.weight`]: [32, 64],
  [`${layer}self_attn.o_proj.weight`]: [64, 2 * headDim],
  ...widths(layer, ['layer_scalar'], 1),
  ...widths(layer, ['input_layernorm.weight', 'post_attention_layernorm.weight', 'router.scale'], 64),
  ...widths(layer, ['pre_feedforward_layernorm.weight', 'pre_feedforward_layernorm_2.weight'], 64),
  ...widths(layer, ['post_feedforward_layernorm.weight', 'post_feedforward_layernorm_1.weight'], 64),
  ...widths(layer, ['post_feedforward_layernorm_2.weight'], 64),
  ...widths(layer, ['router.per_expert_scale'], 3),
});
const gemma: Sizes = {
  ...{ ...tables, ...gemmaLayer(first, 16), ...gemmaLayer(second, 32) },
  [`${first}self_attn.v_proj.weight`]: [32, 64],
};

const largeConfig = { ...gemmaConfig, enable_moe_block: false, global_head_dim: 512 };
const denseLayer = (layer: string, headDim: number, ffn: number): Sizes => ({
  ...headNorms(layer, headDim),
  [`${layer}self_attn.q_proj.weight`]: [2 * headDim, 64],
  [`${layer}self_attn.k_proj.weight`]: [headDim === 16 ? 32 : headDim, 64],
  [`${layer}self_attn.o_proj.weight`]: [64, 2 * headDim],
  [`${layer}mlp.gate_proj.weight`]: [ffn, 64],
  [`${layer}mlp.up_proj.weight`]: [ffn, 64],
  [`${layer}mlp.down_proj.weight`]: [64, ffn],
  ...widths(layer, ['layer_scalar'], 1),
  ...widths(layer, ['input_layernorm.weight', 'post_attention_layernorm.weight'], 64),
  ...widths(layer, ['pre_feedforward_layernorm.weight', 'post_feedforward_layernorm.weight'], 64),
});
const large: Sizes = {
  ...{ ...tables, ...denseLayer(first, 16, 96), ...denseLayer(second, 512, 96) },
  [`${first}self_attn.v_proj.weight`]: [32, 64],
};

/** With keys and values in the last two layers too, which releases have and nobody reads. */
const smallConfig = {
  ...{ ...largeConfig, global_head_dim: 32, attention_k_eq_v: false, num_hidden_layers: 4 },
  ...{ hidden_size_per_layer_input: 16, vocab_size_per_layer_input: 211, num_kv_shared_layers: 2 },
  ...{ use_double_wide_mlp: true, layer_types: [...gemmaConfig.layer_types, ...gemmaConfig.layer_types] },
};
const layerInput = (layer: string): Sizes => ({
  [`${layer}per_layer_input_gate.weight`]: [16, 64],
  [`${layer}per_layer_projection.weight`]: [64, 16],
  [`${layer}post_per_layer_input_norm.weight`]: [64],
  [`${layer}self_attn.v_proj.weight`]: [32, 64],
});
const [third, fourth] = ['model.layers.2.', 'model.layers.3.'] as const;
const small: Sizes = {
  ...{ ...tables, ...denseLayer(first, 16, 96), ...denseLayer(second, 32, 96) },
  ...{ ...denseLayer(third, 16, 192), ...denseLayer(fourth, 32, 192) },
  ...{ ...layerInput(first), ...layerInput(second), ...layerInput(third), ...layerInput(fourth) },
  'model.embed_tokens_per_layer.weight': [211, 64],
  'model.per_layer_model_projection.weight': [64, 64],
  'model.per_layer_projection_norm.weight': [16],
};

test.each([
  ['llama', llamaConfig, llama, 'none', 165_120, 651_392, 4_115_712],
  ['llama in FP8', llamaConfig, llama, 'fp8', 151_312, 651_392, 4_083_968],
  ['llama in int8', llamaConfig, llama, 'int8', 152_320, 651_392, 4_116_736],
  ['hybrid', hybridConfig, hybrid, 'none', 191_968, 647_296, 4_447_488],
  ['GLM', glmConfig, glm, 'none', 395_788, 909_440, 4_997_668],
  ['Gemma 4 with experts', gemmaConfig, gemma, 'none', 578_200, 950_400, 4_891_172],
  ['Gemma 4', largeConfig, large, 'none', 473_472, 4_026_496, 36_408_576],
  ['Gemma 4 with embeddings of layers', smallConfig, small, 'none', 456_576, 1_044_608, 4_033_792],
] as const)('%s', (_name, config, sizes, quantization, weights, workspace, device) => {
  const shape = parseCheckpointConfig(config);
  const speculative = { method: 'none', tokens: 3 } as const;
  const entries = Object.entries(sizes).map(([name, side]) => ({ name, dtype: 'BF16', shape: side }));
  const held = residentWeights(entries as unknown as TensorEntry[], shape, {
    dtype: 'auto',
    quantization,
    speculative,
  });
  const limits = { tensor: 1, maxNumSeqs: 4, maxNumBatchedTokens: 256, blockSize: 16 };
  const input = { ...limits, accelerator: 'hip', shape, weights: held, speculative } as const;
  expect({
    weights: rankWeightBytes(held, { rank: 0, size: 1, kvHeads: 2, onGpu: true }),
    workspace: workspaceBytes(input),
    device: deviceWorkspaceBytes(input),
  }).toEqual({ weights, workspace, device });
});

/** An EAGLE-3 draft model of 4 heads of 32 and 40 tokens, as the native test's wide_eagle3() has it. */
const eagle3: Sizes = {
  ...{ 'eagle3.fusion.weight': [64, 192], 'eagle3.lm_head.weight': [40, 64] },
  ...widths('eagle3.', ['input_norm.weight'], 192),
  ...widths('eagle3.', ['norm.weight', 'layers.0.hidden_norm.weight'], 64),
  ...shared('eagle3.layers.0.'),
  'eagle3.layers.0.self_attn.q_proj.weight': [128, 128],
  'eagle3.layers.0.self_attn.k_proj.weight': [64, 128],
  'eagle3.layers.0.self_attn.v_proj.weight': [64, 128],
  'eagle3.layers.0.self_attn.o_proj.weight': [64, 128],
};
const ofLayer = { vocab: 40, layers: [0, 1, 2] };
const norms = { normBeforeResidual: false, normBeforeFc: true, normOutput: false };

test.each([
  [
    'eagle3',
    { ...llamaConfig, num_hidden_layers: 1, head_dim: 32, tie_word_embeddings: false },
    eagle3,
    { ...ofLayer, ...norms },
    322_560,
    1_477_632,
    6_262_016,
  ],
  ['draft_model', llamaConfig, llama, null, 330_240, 1_341_760, 4_331_776],
] as const)('llama with drafts of %s', (method, config, sizes, ofEagle3, weights, workspace, device) => {
  const speculative = { method, tokens: 3 } as const;
  const heldOf = (of: typeof shape, all: Sizes) => {
    const entries = Object.entries(all).map(([name, side]) => ({ name, dtype: 'BF16', shape: side }));
    return residentWeights(entries as unknown as TensorEntry[], of, {
      dtype: 'auto',
      quantization: 'none',
      speculative,
    });
  };
  const shape = parseCheckpointConfig(llamaConfig);
  const drafter = { shape: parseCheckpointConfig(config), eagle3: ofEagle3 };
  const held = { ...joinedWeights(heldOf(shape, llama), heldOf(drafter.shape, sizes)), drafter };
  const limits = { tensor: 1, maxNumSeqs: 4, maxNumBatchedTokens: 256, blockSize: 16 };
  const input = { ...limits, accelerator: 'hip', shape, weights: held, speculative } as const;
  expect({
    weights: rankWeightBytes(held, { rank: 0, size: 1, kvHeads: 2, onGpu: true }),
    workspace: workspaceBytes(input) + drafterWorkspaceBytes(input),
    device: deviceWorkspaceBytes(input),
  }).toEqual({ weights, workspace, device });
});

/** The layer for multi-token prediction, as the native test's add_mtp() has it. */
const mtp: Sizes = {
  'mtp.fc.weight': [64, 128],
  'mtp.pre_fc_norm_embedding.weight': [64],
  'mtp.pre_fc_norm_hidden.weight': [64],
  'mtp.norm.weight': [64],
  ...shared('mtp.layers.0.'),
  ...attention('mtp.layers.0.', 128),
  'mtp.layers.0.self_attn.q_norm.weight': [16],
  'mtp.layers.0.self_attn.k_norm.weight': [16],
};

test('hybrid with drafts, which read a head of their own', () => {
  const entries = Object.entries({ ...hybrid, ...mtp }).map(([name, side]) => ({
    name,
    dtype: 'BF16',
    shape: side,
  }));
  const held = residentWeights(entries as unknown as TensorEntry[], parseCheckpointConfig(hybridConfig), {
    dtype: 'auto',
    quantization: 'none',
    speculative: { method: 'mtp', tokens: 3 },
  });
  const weights = rankWeightBytes(withDraftHead(held), { rank: 0, size: 1, kvHeads: 2, onGpu: true });
  expect(weights).toBe(316_272);
});

/** The native test AdaptersOnGpu has these. */
test('adapters of llama, one in each place', () => {
  const adapterRoom = { max: 1, maxRank: 16 };
  const shape = parseCheckpointConfig(llamaConfig);
  expect(adapterBytes(shape, 1, { dtype: 'auto', accelerator: 'hip' }, adapterRoom)).toBe(60_928);
  expect(adapterWorkspaceBytes(adapterRoom, 1024)).toBe(1_605_632);
});
