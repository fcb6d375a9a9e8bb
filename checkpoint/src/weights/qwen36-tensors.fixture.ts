// The tensors of Qwen3.6-27B-FP8's headers that its text model runs: the reference deployment's checkpoint.

import type { TensorEntry } from '../formats/safetensors-header.js';

function bf16(name: string, ...shape: number[]): TensorEntry[] {
  return [{ name, dtype: 'BF16', shape, bytes: 0 }];
}

/** In 128 x 128 blocks, each with a scale. */
function fp8(module: string, rows: number, cols: number): TensorEntry[] {
  const blocks = [Math.ceil(rows / 128), Math.ceil(cols / 128)];
  return [
    { name: `${module}.weight`, dtype: 'F8_E4M3', shape: [rows, cols], bytes: 0 },
    { name: `${module}.weight_scale_inv`, dtype: 'BF16', shape: blocks, bytes: 0 },
  ];
}

function attention(at: string): TensorEntry[] {
  return [
    ...fp8(`${at}q_proj`, 2 * 24 * 256, 5120),
    ...fp8(`${at}k_proj`, 4 * 256, 5120),
    ...fp8(`${at}v_proj`, 4 * 256, 5120),
    ...fp8(`${at}o_proj`, 5120, 24 * 256),
    ...bf16(`${at}q_norm.weight`, 256),
    ...bf16(`${at}k_norm.weight`, 256),
  ];
}

function gatedDelta(at: string): TensorEntry[] {
  return [
    ...fp8(`${at}in_proj_qkv`, 2 * 2048 + 6144, 5120),
    ...fp8(`${at}in_proj_z`, 6144, 5120),
    ...bf16(`${at}in_proj_b.weight`, 48, 5120),
    ...bf16(`${at}in_proj_a.weight`, 48, 5120),
    ...bf16(`${at}conv1d.weight`, 2 * 2048 + 6144, 1, 4),
    ...bf16(`${at}A_log`, 48),
    ...bf16(`${at}dt_bias`, 48),
    ...bf16(`${at}norm.weight`, 128),
    ...fp8(`${at}out_proj`, 5120, 6144),
  ];
}

function layer(i: number): TensorEntry[] {
  const at = `model.language_model.layers.${String(i)}.`;
  return [
    ...bf16(`${at}input_layernorm.weight`, 5120),
    ...bf16(`${at}post_attention_layernorm.weight`, 5120),
    ...((i + 1) % 4 === 0 ? attention(`${at}self_attn.`) : gatedDelta(`${at}linear_attn.`)),
    ...fp8(`${at}mlp.gate_proj`, 17408, 5120),
    ...fp8(`${at}mlp.up_proj`, 17408, 5120),
    ...fp8(`${at}mlp.down_proj`, 5120, 17408),
  ];
}

export const qwen36Tensors: readonly TensorEntry[] = [
  ...bf16('model.language_model.embed_tokens.weight', 248320, 5120),
  ...Array.from({ length: 64 }, (_, i) => layer(i)).flat(),
  ...bf16('model.language_model.norm.weight', 5120),
  ...bf16('lm_head.weight', 248320, 5120),
];
