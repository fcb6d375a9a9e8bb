// What safetensors checkpoints call the tensors of a GGUF file. Source of the names: llama.cpp, gguf-py/gguf/constants.py.

import type { GgufArchitecture, GgufKeys } from './gguf-keys.js';

const modelTensors: ReadonlyMap<string, string> = new Map([
  ['rope_freqs.weight', 'rope_freqs.weight'],
  ['token_embd.weight', 'model.embed_tokens.weight'],
  ['output_norm.weight', 'model.norm.weight'],
  ['output.weight', 'lm_head.weight'],
  ['per_layer_token_embd.weight', 'model.embed_tokens_per_layer.weight'],
  ['per_layer_model_proj.weight', 'model.per_layer_model_projection.weight'],
  ['per_layer_proj_norm.weight', 'model.per_layer_projection_norm.weight'],
]);

type Names = readonly (readonly [stored: string, name: string])[];

/** After `blk.N.` and `model.layers.N.`; those that end in a dot may be weight or bias. */
const layerTensors: Names = [
  ['attn_norm.weight', 'input_layernorm.weight'],
  ['ffn_norm.weight', 'post_attention_layernorm.weight'],
  ['post_attention_norm.weight', 'post_attention_layernorm.weight'],
  ['attn_q.', 'self_attn.q_proj.'],
  ['attn_k.', 'self_attn.k_proj.'],
  ['attn_v.', 'self_attn.v_proj.'],
  ['attn_output.', 'self_attn.o_proj.'],
  ['attn_q_norm.weight', 'self_attn.q_norm.weight'],
  ['attn_k_norm.weight', 'self_attn.k_norm.weight'],
  ['ffn_gate.', 'mlp.gate_proj.'],
  ['ffn_up.', 'mlp.up_proj.'],
  ['ffn_down.', 'mlp.down_proj.'],
  ['ffn_gate_inp.weight', 'mlp.gate.weight'],
  ['ffn_gate_exps.weight', 'mlp.experts.gate_proj'],
  ['ffn_up_exps.weight', 'mlp.experts.up_proj'],
  ['ffn_gate_up_exps.weight', 'mlp.experts.gate_up_proj'],
  ['ffn_down_exps.weight', 'mlp.experts.down_proj'],
  ['ffn_gate_inp_shexp.weight', 'mlp.shared_expert_gate.weight'],
  ['ffn_gate_shexp.weight', 'mlp.shared_expert.gate_proj.weight'],
  ['ffn_up_shexp.weight', 'mlp.shared_expert.up_proj.weight'],
  ['ffn_down_shexp.weight', 'mlp.shared_expert.down_proj.weight'],
  ['attn_qkv.weight', 'linear_attn.in_proj_qkv.weight'],
  ['attn_gate.weight', 'linear_attn.in_proj_z.weight'],
  ['ssm_alpha.weight', 'linear_attn.in_proj_a.weight'],
  ['ssm_beta.weight', 'linear_attn.in_proj_b.weight'],
  ['ssm_a', 'linear_attn.A_log'],
  ['ssm_dt.bias', 'linear_attn.dt_bias'],
  ['ssm_conv1d.weight', 'linear_attn.conv1d.weight'],
  ['ssm_norm.weight', 'linear_attn.norm.weight'],
  ['ssm_out.weight', 'linear_attn.out_proj.weight'],
];

const normsAroundBoth: Names = [
  ['ffn_norm.weight', 'pre_feedforward_layernorm.weight'],
  ['post_ffw_norm.weight', 'post_feedforward_layernorm.weight'],
];

/** That an architecture has for itself, or for something else than others have. */
const ownTensors: Partial<Record<GgufArchitecture, Names>> = {
  'gpt-oss': [
    ['attn_sinks.weight', 'self_attn.sinks'],
    ['ffn_gate_inp.bias', 'mlp.gate.bias'],
    ['ffn_gate_exps.bias', 'mlp.experts.gate_proj.bias'],
    ['ffn_up_exps.bias', 'mlp.experts.up_proj.bias'],
    ['ffn_down_exps.bias', 'mlp.experts.down_proj.bias'],
  ],
  glm4moe: [['exp_probs_b.bias', 'mlp.gate.e_score_correction_bias']],
  // Older files have q, k, values and z in one matrix.
  qwen3next: [
    ['ssm_in.weight', 'linear_attn.in_proj_qkvz.weight'],
    ['ssm_ba.weight', 'linear_attn.in_proj_ba.weight'],
  ],
  gemma2: normsAroundBoth,
  gemma3: normsAroundBoth,
  gemma4: [
    ...normsAroundBoth,
    ['layer_output_scale.weight', 'layer_scalar'],
    ['inp_gate.weight', 'per_layer_input_gate.weight'],
    ['proj.weight', 'per_layer_projection.weight'],
    ['post_norm.weight', 'post_per_layer_input_norm.weight'],
    ['ffn_gate_inp.scale', 'router.scale'],
    ['ffn_down_exps.scale', 'router.per_expert_scale'],
    ['pre_ffw_norm_2.weight', 'pre_feedforward_layernorm_2.weight'],
    ['post_ffw_norm_1.weight', 'post_feedforward_layernorm_1.weight'],
    ['post_ffw_norm_2.weight', 'post_feedforward_layernorm_2.weight'],
  ],
};

/** The dense layer of Gemma 4 beside its experts is one that every row runs. */
const besideExperts: Names = ['gate', 'up', 'down'].map(
  (part) => [`ffn_${part}.weight`, `mlp.shared_expert.${part}_proj.weight`] as const,
);

const layerNames: ReadonlyMap<string, string> = new Map(
  layerTensors.flatMap(([stored, name]) =>
    stored.endsWith('.')
      ? ['weight', 'bias'].map((kind) => [stored + kind, name + kind] as const)
      : [[stored, name]],
  ),
);

/** Undefined for a tensor that the architecture does not have here. */
export function engineName(keys: GgufKeys, stored: string): string | undefined {
  const [, layer, part = ''] = /^blk\.(\d+)\.(.+)$/.exec(stored) ?? [];
  if (layer === undefined) return modelTensors.get(stored);
  const { architecture } = keys;
  const names = [...(ownTensors[architecture] ?? []), ...(keys.isGemma4 && keys.sparse ? besideExperts : [])];
  const own = names.find(([each]) => each === part)?.[1];
  const name = own ?? layerNames.get(part);
  return name === undefined ? undefined : `model.layers.${String(Number(layer))}.${name}`;
}
