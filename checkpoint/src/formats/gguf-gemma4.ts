// What the header of a GGUF file of Gemma 4 says, as config.json says it. What differs by layer is in lists; layers without a window
// rotate by rope_freqs.weight, whose divisors leave most of a head alone.
// Source of the keys: llama.cpp, conversion/gemma.py.

import { FailureError } from '@llmservice/crds';
import type { GgufTensor } from './gguf-header.js';
import type { GgufKeys } from './gguf-keys.js';

type ByName = ReadonlyMap<string, GgufTensor>;

/** @throws FailureError UnsupportedArchitecture, CheckpointCorrupt, CheckpointIncomplete */
export function gemma4Config(file: string, keys: GgufKeys, tensors: ByName, table: GgufTensor): object {
  const { layers } = keys;
  const sharing = keys.number('attention.shared_kv_layers', 0);
  const slides = keys.flags('attention.sliding_window_pattern', layers);
  if (!tensors.has('rope_freqs.weight')) {
    throw new FailureError(
      'CheckpointIncomplete',
      `${file} has no tensor rope_freqs.weight, by which layers of ${keys.architecture} without a window rotate`,
      { file },
    );
  }
  refuseOtherModels(keys, tensors, slides);
  const own = slides.flatMap((sliding, i) => (sliding || i >= layers - sharing ? [] : [i]));
  return {
    model_type: 'gemma4_text',
    hidden_size: keys.count('embedding_length'),
    num_hidden_layers: layers,
    layer_types: slides.map((sliding) => (sliding ? 'sliding_attention' : 'full_attention')),
    sliding_window: keys.count('attention.sliding_window'),
    num_attention_heads: keys.count('attention.head_count'),
    ...keyHeads(keys, slides),
    ...headWidths(keys),
    attention_k_eq_v: areKeysValues(file, own, tensors),
    attention_bias: false,
    rope_parameters: {
      sliding_attention: { rope_type: 'default', rope_theta: keys.number('rope.freq_base_swa', 10_000) },
      full_attention: { rope_type: 'default', rope_theta: keys.number('rope.freq_base', 1_000_000) },
    },
    max_position_embeddings: keys.count('context_length'),
    vocab_size: table.shape[0],
    rms_norm_eps: keys.number('attention.layer_norm_rms_epsilon', 1e-6),
    final_logit_softcapping: keys.has('final_logit_softcapping')
      ? keys.number('final_logit_softcapping', 0)
      : null,
    tie_word_embeddings: !tensors.has('output.weight'),
    hidden_size_per_layer_input: keys.number('embedding_length_per_layer_input', 0),
    vocab_size_per_layer_input: tensors.get('per_layer_token_embd.weight')?.shape[0],
    num_kv_shared_layers: sharing,
    ...feedForward(keys, layers - sharing, layers),
    ...(keys.sparse ? expertFields(keys) : {}),
  };
}

/** Keys that other models have, and tensors that would be left unread. */
function refuseOtherModels(keys: GgufKeys, tensors: ByName, slides: readonly boolean[]): void {
  if (slides.at(-1) === true)
    throw keys.unsupported('attention.sliding_window_pattern gives the last layer a window');
  const names = [...tensors.keys()];
  if (!keys.sparse && names.some((name) => name.endsWith('.ffn_gate_inp.weight')))
    throw keys.corrupt('expert_count', 'is 0 or missing, and the file has experts');
  if (keys.number('embedding_length_per_layer_input', 0) === 0 && tensors.has('per_layer_token_embd.weight'))
    throw keys.corrupt(
      'embedding_length_per_layer_input',
      'is 0 or missing, and the file has such embeddings',
    );
  const differing = [
    ['rope.scaling.type', keys.text('rope.scaling.type', 'none') !== 'none'],
    ['expert_gating_func', keys.number('expert_gating_func', 1) !== 1],
    ['expert_weights_scale', ![0, 1].includes(keys.number('expert_weights_scale', 1))],
    ['expert_weights_norm', !keys.flag('expert_weights_norm', true)],
    ['attn_logit_softcapping', keys.number('attn_logit_softcapping', 0) !== 0],
    ['attention.causal', !keys.flag('attention.causal', true)],
  ] as const;
  for (const [key, differs] of differing) {
    if (differs) throw keys.unsupported(`${key} is not what ${keys.architecture} is supported with`);
  }
}

/** @param layers without a window, with keys of their own: all of them have values beside, or none */
function areKeysValues(file: string, layers: readonly number[], tensors: ByName): boolean {
  const lacking = layers.filter((layer) => !tensors.has(`blk.${String(layer)}.attn_v.weight`));
  if (lacking.length === 0 || lacking.length === layers.length) return lacking.length > 0;
  throw new FailureError(
    'CheckpointIncomplete',
    `${file} has no tensor blk.${String(lacking[0])}.attn_v.weight, which other layers without a window have`,
    { file },
  );
}

/** One number, or one for each layer, of which those of a kind have the same. */
function keyHeads(keys: GgufKeys, slides: readonly boolean[]): object {
  const heads = keys.counts('attention.head_count_kv', slides.length);
  const of = (sliding: boolean): number | undefined => {
    const kind = new Set(heads.filter((_, i) => slides[i] === sliding));
    if (kind.size <= 1) return [...kind][0];
    throw keys.unsupported('attention.head_count_kv differs among layers with a window, or without one');
  };
  const [windowed, global] = [of(true), of(false)];
  return { num_key_value_heads: windowed ?? global, num_global_key_value_heads: global };
}

/** Of layers with a window, and of the others; keys and values have the same, and all of it rotates. */
function headWidths(keys: GgufKeys): object {
  const global = keys.count('attention.key_length');
  const windowed = keys.count('attention.key_length_swa');
  for (const [key, width] of [
    ['attention.value_length', global],
    ['attention.value_length_swa', windowed],
    ['rope.dimension_count', global],
    ['rope.dimension_count_swa', windowed],
  ] as const) {
    if (keys.count(key, width) === width) continue;
    throw keys.unsupported(`${key} differs from the width of keys, ${String(width)}, which is not supported`);
  }
  return { head_dim: windowed, global_head_dim: global };
}

/** Layers that share keys and values may be twice as wide. */
function feedForward(keys: GgufKeys, own: number, layers: number): object {
  const widths = keys.counts('feed_forward_length', layers);
  const [first = 1] = widths;
  const isDouble = widths.at(-1) === 2 * first;
  const expected = widths.every((width, i) => width === (isDouble && i >= own ? 2 : 1) * first);
  if (expected) return { intermediate_size: first, use_double_wide_mlp: isDouble };
  throw keys.unsupported(
    'feed_forward_length differs among layers otherwise than by twice the width for those that share keys and values',
  );
}

function expertFields(keys: GgufKeys): object {
  return {
    enable_moe_block: true,
    num_experts: keys.count('expert_count'),
    top_k_experts: keys.count('expert_used_count'),
    moe_intermediate_size: keys.count('expert_feed_forward_length'),
  };
}
