// From a GGUF header to what every checkpoint is to the plan: the model's shape, and its tensors under the names that
// safetensors checkpoints have.

import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { FailureError } from '@llmservice/crds';
import type { GgufHeader, GgufTensor } from './gguf-header.js';
import { GgufKeys } from './gguf-keys.js';
import { blockType, ggufTypeNames } from './gguf-types.js';
import type { PlacedTensor } from './safetensors-header.js';

/**
 * What the converter did to a tensor's values, which reading it undoes: `halvedRows`: rows of each head lie as neighbours
 * that rotate together, not as two halves; `logOfDecay`: it holds -exp of what it should.
 * Source: llama.cpp, conversion/llama.py and conversion/qwen.py.
 */
export type GgufRestoration = 'halvedRows' | 'logOfDecay';

/** A tensor under the name that safetensors checkpoints have for it. */
export interface GgufTensorEntry extends PlacedTensor {
  /** That its data is in. */
  readonly file: string;
  /** In the file, for messages. */
  readonly storedName: string;
  readonly restoration: GgufRestoration | null;
}

export interface GgufCheckpoint {
  readonly shape: ModelShape;
  readonly tensors: readonly GgufTensorEntry[];
}

/**
 * @param header of the whole checkpoint, joined where that has several files
 * @throws FailureError UnsupportedArchitecture, UnsupportedQuantization, CheckpointCorrupt, CheckpointIncomplete
 */
export function readGgufCheckpoint(header: GgufHeader): GgufCheckpoint {
  const keys = new GgufKeys(header);
  const byName = new Map(header.tensors.map((tensor) => [tensor.name, tensor]));
  const shape = parseCheckpointConfig(toConfig(header, keys, byName));
  if (byName.has('blk.0.attn_q.bias') && !shape.qkvBias) {
    throw keys.unsupported(`it has biases of attention, which ${shape.architecture} does not have here`);
  }
  const blocks = header.tensors.flatMap(({ dtype }) => blockType(dtype) ?? []);
  return {
    shape: {
      ...shape,
      // The converter adds the 1 to the weights.
      unitOffsetNorm: false,
      gdn: shape.gdn === null ? null : { ...shape.gdn, tiled: shape.gdn.vHeads !== shape.gdn.kHeads },
      quantization: blocks.length === 0 ? 'none' : 'gguf',
    },
    tensors: header.tensors.flatMap((tensor) => toEntry(keys, tensor) ?? []),
  };
}

function toConfig(header: GgufHeader, keys: GgufKeys, tensors: ReadonlyMap<string, GgufTensor>): object {
  if (keys.number('attention.sliding_window', 0) > 0) {
    throw keys.unsupported('attention.sliding_window is not supported in GGUF files');
  }
  const table = tensors.get('token_embd.weight');
  if (table?.shape.length !== 2) {
    throw new FailureError('CheckpointIncomplete', `${header.file} has no matrix token_embd.weight`);
  }
  const heads = keys.count('attention.head_count');
  const hidden = keys.count('embedding_length');
  const headDim = keys.count('attention.key_length', Math.floor(hidden / heads));
  if (keys.count('attention.value_length', headDim) !== headDim) {
    throw keys.unsupported(
      'attention.value_length differs from attention.key_length, which is not supported',
    );
  }
  return {
    model_type: modelType(keys),
    hidden_size: hidden,
    num_hidden_layers: keys.layers,
    num_attention_heads: heads,
    num_key_value_heads: keys.count('attention.head_count_kv', heads),
    head_dim: headDim,
    rope_parameters: ropeFields(keys, headDim),
    max_position_embeddings: keys.count('context_length'),
    vocab_size: table.shape[0],
    rms_norm_eps: keys.number('attention.layer_norm_rms_epsilon', 1e-6),
    tie_word_embeddings: !tensors.has('output.weight'),
    attention_bias: tensors.has('blk.0.attn_q.bias'),
    mlp_bias: tensors.has('blk.0.ffn_gate.bias'),
    ...(keys.sparse ? expertFields(keys) : { intermediate_size: keys.count('feed_forward_length') }),
    ...(keys.hybrid ? gdnFields(keys) : {}),
  };
}

function modelType(keys: GgufKeys): string {
  if (keys.hybrid) return keys.sparse ? 'qwen3_5_moe_text' : 'qwen3_5_text';
  if (keys.isMixtral) return 'mixtral';
  if (keys.sparse) return 'qwen3_moe';
  if (keys.number('expert_count', 0) > 0) {
    throw keys.unsupported(`it has experts, which ${keys.architecture} does not have here`);
  }
  return keys.architecture;
}

function ropeFields(keys: GgufKeys, headDim: number): object {
  const partial = {
    rope_theta: keys.number('rope.freq_base', 10_000),
    partial_rotary_factor: keys.count('rope.dimension_count', headDim) / headDim,
  };
  const type = keys.text('rope.scaling.type', 'none');
  if (type === 'none') return partial;
  if (type !== 'linear' && type !== 'yarn') {
    throw keys.unsupported(
      `rope.scaling.type ${JSON.stringify(type)} is not supported; supported: none, linear, yarn`,
    );
  }
  const scaling = { ...partial, rope_type: type, factor: keys.number('rope.scaling.factor', 1) };
  if (!keys.has('rope.scaling.original_context_length')) return scaling;
  return {
    ...scaling,
    original_max_position_embeddings: keys.count('rope.scaling.original_context_length'),
  };
}

function expertFields(keys: GgufKeys): object {
  if (keys.number('expert_gating_func', 1) !== 1) {
    throw keys.unsupported('expert_gating_func is not softmax, the only one that is supported');
  }
  if (![0, 1].includes(keys.number('expert_weights_scale', 1))) {
    throw keys.unsupported('expert_weights_scale is not supported');
  }
  return {
    num_experts: keys.count('expert_count'),
    num_experts_per_tok: keys.count('expert_used_count'),
    ...(keys.isMixtral
      ? { intermediate_size: keys.count('feed_forward_length') }
      : { moe_intermediate_size: keys.count('expert_feed_forward_length') }),
    norm_topk_prob: keys.flag('expert_weights_norm', true),
    ...(keys.hybrid
      ? { shared_expert_intermediate_size: keys.count('expert_shared_feed_forward_length') }
      : {}),
  };
}

function gdnFields(keys: GgufKeys): object {
  const vHeads = keys.count('ssm.time_step_rank');
  const inner = keys.count('ssm.inner_size');
  if (inner % vHeads !== 0) throw keys.corrupt('ssm.inner_size', 'is not a multiple of ssm.time_step_rank');
  return {
    linear_num_key_heads: keys.count('ssm.group_count'),
    linear_num_value_heads: vHeads,
    linear_key_head_dim: keys.count('ssm.state_size'),
    linear_value_head_dim: inner / vHeads,
    linear_conv_kernel_dim: keys.count('ssm.conv_kernel'),
    full_attention_interval: keys.count('full_attention_interval', 4),
  };
}

const modelTensors: ReadonlyMap<string, string> = new Map([
  ['rope_freqs.weight', 'rope_freqs.weight'],
  ['token_embd.weight', 'model.embed_tokens.weight'],
  ['output_norm.weight', 'model.norm.weight'],
  ['output.weight', 'lm_head.weight'],
]);

/** After `blk.N.` and `model.layers.N.`; those that end in a dot may be weight or bias. */
const layerTensors: readonly (readonly [stored: string, name: string])[] = [
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

const layerNames: ReadonlyMap<string, string> = new Map(
  layerTensors.flatMap(([stored, name]) =>
    stored.endsWith('.')
      ? ['weight', 'bias'].map((kind) => [stored + kind, name + kind] as const)
      : [[stored, name]],
  ),
);

/** Null for what is not run. */
function toEntry(
  keys: GgufKeys,
  { name: stored, file, dtype, shape, offset, bytes }: GgufTensor,
): GgufTensorEntry | null {
  const [, layer, part = ''] = /^blk\.(\d+)\.(.+)$/.exec(stored) ?? [];
  if (layer !== undefined && Number(layer) >= keys.layers) return null;
  const inLayer = layer === undefined ? undefined : layerNames.get(part);
  const name =
    inLayer === undefined ? modelTensors.get(stored) : `model.layers.${String(Number(layer))}.${inLayer}`;
  if (name === undefined) {
    throw keys.unsupported(
      `tensor ${stored} is not one that ${keys.architecture} has here, so the model would not be what it was made to be`,
    );
  }
  if (bytes === null) {
    throw new FailureError(
      'UnsupportedQuantization',
      `${file}: tensor ${stored} has type ${dtype}; supported in GGUF files: ${ggufTypeNames()}; ` +
        'a file made as Q8_0, Q4_K_M or F16 would do',
      { file },
    );
  }
  const restoration = restorationOf(name, keys);
  return { name, file, storedName: stored, dtype, shape: restored(name, shape), offset, bytes, restoration };
}

function restorationOf(name: string, { architecture }: GgufKeys): GgufRestoration | null {
  if (name.endsWith('A_log')) return 'logOfDecay';
  return architecture === 'llama' && /\.self_attn\.[qk]_proj\./.test(name) ? 'halvedRows' : null;
}

/** Sides of 1 that the converter drops. */
function restored(name: string, shape: readonly number[]): readonly number[] {
  const [first = 1, ...rest] = shape;
  if (name.endsWith('shared_expert_gate.weight') && rest.length === 0) return [1, first];
  return name.endsWith('conv1d.weight') && rest.length === 1 ? [first, 1, ...rest] : shape;
}

/** Whether the file carries a tokenizer; without one a tokenizer.json must lie beside it. */
export function hasGgufTokenizer({ values }: GgufHeader): boolean {
  return values.has('tokenizer.ggml.model');
}
