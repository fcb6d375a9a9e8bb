// From a GGUF header to what every checkpoint is to the plan: the model's shape, and its tensors under the names that
// safetensors checkpoints have.

import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { FailureError } from '@llmservice/crds';
import type { GgufHeader, GgufTensor } from './gguf-header.js';
import { gemma4Config } from './gguf-gemma4.js';
import { GgufKeys } from './gguf-keys.js';
import { toEntries, type GgufTensorEntry } from './gguf-entries.js';
import { blockType } from './gguf-types.js';

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
      gdn:
        shape.gdn === null
          ? null
          : { ...shape.gdn, tiled: !keys.isQwen3Next && shape.gdn.vHeads !== shape.gdn.kHeads },
      quantization: blocks.length === 0 ? 'none' : 'gguf',
    },
    tensors: header.tensors.flatMap((tensor) => toEntries(keys, tensor, byName)),
  };
}

function toConfig(header: GgufHeader, keys: GgufKeys, tensors: ReadonlyMap<string, GgufTensor>): object {
  const window = keys.number('attention.sliding_window', 0);
  if (window > 0 && !keys.isGptOss && !keys.isGemma) {
    throw keys.unsupported('attention.sliding_window is not supported in GGUF files');
  }
  const table = tensors.get('token_embd.weight');
  if (table?.shape.length !== 2) {
    throw new FailureError('CheckpointIncomplete', `${header.file} has no matrix token_embd.weight`);
  }
  if (keys.isGemma4) return gemma4Config(header.file, keys, tensors, table);
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
    ...(keys.isGemma ? gemmaFields(keys, headDim) : { rope_parameters: ropeFields(keys, headDim) }),
    max_position_embeddings: keys.count('context_length'),
    vocab_size: table.shape[0],
    rms_norm_eps: keys.number('attention.layer_norm_rms_epsilon', 1e-6),
    tie_word_embeddings: !tensors.has('output.weight'),
    attention_bias: tensors.has('blk.0.attn_q.bias'),
    mlp_bias: tensors.has('blk.0.ffn_gate.bias'),
    ...(keys.sparse ? expertFields(keys) : { intermediate_size: keys.count('feed_forward_length') }),
    ...(keys.isGlm ? { use_qk_norm: tensors.has('blk.0.attn_q_norm.weight') } : {}),
    ...(keys.hybrid ? gdnFields(keys) : {}),
    // What the file does not say of it, read-config.ts takes as releases have it.
    ...(keys.isGptOss ? { sliding_window: keys.count('attention.sliding_window') } : {}),
  };
}

function modelType(keys: GgufKeys): string {
  if (keys.isQwen3Next) return 'qwen3_next';
  if (keys.hybrid) return keys.sparse ? 'qwen3_5_moe_text' : 'qwen3_5_text';
  if (keys.isMixtral) return 'mixtral';
  if (keys.isGptOss) return 'gpt_oss';
  if (keys.isGlm) return 'glm4_moe';
  if (keys.sparse) return 'qwen3_moe';
  if (keys.number('expert_count', 0) > 0) {
    throw keys.unsupported(`it has experts, which ${keys.architecture} does not have here`);
  }
  return keys.architecture;
}

/** Layers of the largest of each, which alone scales queries by another number than its heads' width. */
const largest: Readonly<Record<string, number>> = { gemma2: 46, gemma3: 62 };

/** What the file does not say, llama.cpp knows of the architecture, and read-config.ts. */
function gemmaFields(keys: GgufKeys, headDim: number): object {
  const { architecture } = keys;
  const hidden = keys.count('embedding_length');
  const isLargest = keys.layers === largest[architecture];
  const { rope_theta: theta, partial_rotary_factor: part, ...scaling } = ropeFields(keys, headDim);
  if (part !== 1) throw keys.unsupported('rope.dimension_count differs from attention.key_length');
  const optional = (field: string, key: string): object =>
    keys.has(key) ? { [field]: keys.number(key, 0) } : {};
  return {
    query_pre_attn_scalar: isLargest ? hidden / keys.count('attention.head_count') : headDim,
    sliding_window: keys.count('attention.sliding_window', architecture === 'gemma2' ? 4096 : undefined),
    rope_theta: theta,
    ...(Object.keys(scaling).length === 0 ? {} : { rope_scaling: scaling }),
    ...optional('rope_local_base_freq', 'rope.freq_base_swa'),
    ...optional('attn_logit_softcapping', 'attn_logit_softcapping'),
    ...optional('final_logit_softcapping', 'final_logit_softcapping'),
  };
}

interface RopeFields extends Readonly<Record<string, unknown>> {
  readonly rope_theta: number;
  readonly partial_rotary_factor: number;
}

function ropeFields(keys: GgufKeys, headDim: number): RopeFields {
  const partial = {
    rope_theta: keys.number('rope.freq_base', keys.architecture === 'gemma3' ? 1_000_000 : 10_000),
    partial_rotary_factor: keys.count('rope.dimension_count', headDim) / headDim,
  };
  const type = keys.text('rope.scaling.type', 'none');
  if (type === 'none') return partial;
  if (type !== 'linear' && type !== 'yarn') {
    throw keys.unsupported(
      `rope.scaling.type ${JSON.stringify(type)} is not supported; supported: none, linear, yarn`,
    );
  }
  const scaling = {
    ...partial,
    ...{ rope_type: type, factor: keys.number('rope.scaling.factor', 1) },
    // The model's own; no key says it.
    ...(keys.isGptOss ? { truncate: false } : {}),
  };
  if (!keys.has('rope.scaling.original_context_length')) return scaling;
  return {
    ...scaling,
    original_max_position_embeddings: keys.count('rope.scaling.original_context_length'),
  };
}

function expertFields(keys: GgufKeys): object {
  if (keys.isGlm) return sigmoidFields(keys);
  // Softmax over all experts, or, as gpt-oss has it, over the chosen ones.
  if (![1, ...(keys.isGptOss ? [3] : [])].includes(keys.number('expert_gating_func', 1))) {
    throw keys.unsupported('expert_gating_func is not softmax, the only one that is supported');
  }
  if (![0, 1].includes(keys.number('expert_weights_scale', 1))) {
    throw keys.unsupported('expert_weights_scale is not supported');
  }
  return {
    num_experts: keys.count('expert_count'),
    num_experts_per_tok: keys.count('expert_used_count'),
    ...expertWidth(keys),
    norm_topk_prob: keys.flag('expert_weights_norm', true),
    ...(keys.hybrid
      ? { shared_expert_intermediate_size: keys.count('expert_shared_feed_forward_length') }
      : {}),
  };
}

/** Of GLM, whose scores are sigmoids. */
function sigmoidFields(keys: GgufKeys): object {
  if (keys.number('expert_gating_func', 2) !== 2) {
    throw keys.unsupported('expert_gating_func is not sigmoid, the only one that glm4moe is supported with');
  }
  return {
    intermediate_size: keys.count('feed_forward_length'),
    moe_intermediate_size: keys.count('expert_feed_forward_length'),
    n_routed_experts: keys.count('expert_count'),
    num_experts_per_tok: keys.count('expert_used_count'),
    n_shared_experts: keys.count('expert_shared_count'),
    first_k_dense_replace: keys.number('leading_dense_block_count', 0),
    n_group: keys.count('expert_group_count', 1),
    topk_group: keys.count('expert_group_used_count', 1),
    norm_topk_prob: keys.flag('expert_weights_norm', true),
    routed_scaling_factor: keys.number('expert_weights_scale', 1),
  };
}

/** Under the field that each architecture has for it. */
function expertWidth(keys: GgufKeys): object {
  if (keys.isMixtral) return { intermediate_size: keys.count('feed_forward_length') };
  const width = keys.count('expert_feed_forward_length');
  return keys.isGptOss ? { intermediate_size: width } : { moe_intermediate_size: width };
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

/** Whether the file carries a tokenizer; without one a tokenizer.json must lie beside it. */
export function hasGgufTokenizer({ values }: GgufHeader): boolean {
  return values.has('tokenizer.ggml.model');
}
