// What config.json says of Gemma 4 beyond what Gemma 3 has: heads of layers without a window, and experts beside a dense layer.
// What the small sizes (E2B, E4B) have besides is in gemma4-small-fields.ts.

import { type FieldReader, isObject, quote, unsupported } from './config-fields.js';
import type { GlobalAttention, MoeDimensions } from './model-shape.js';

/** What layers without a window may have of their own. */
const overridden = ['head_dim', 'num_key_value_heads'];

/**
 * @param windows of each layer, 0: none
 * @throws FailureError UnsupportedArchitecture
 */
export function readGlobalAttention(fields: FieldReader, windows: readonly number[]): GlobalAttention {
  const bias = fields.value('attention_bias');
  if (bias !== false) {
    throw unsupported(
      `attention_bias is ${quote(bias)}: biases of attention are not supported; what works: false, as releases have it`,
    );
  }
  const bidirectional = fields.value('use_bidirectional_attention');
  // `vision` is of images alone, which are not served.
  if (bidirectional !== undefined && bidirectional !== 'vision') {
    throw unsupported(
      `use_bidirectional_attention is ${quote(bidirectional)}: only models that generate are supported (none, or "vision")`,
    );
  }
  const rope = fields.child('rope_parameters').child('full_attention');
  if (rope.has('partial_rotary_factor') && rope.value('rope_type') !== 'proportional') {
    throw unsupported(
      `rope_parameters.full_attention has a partial_rotary_factor with rope_type ${quote(rope.value('rope_type'))}: ` +
        'it counts with rope_type "proportional" alone',
    );
  }
  const keysAreValues = fields.flag('attention_k_eq_v', false);
  const kvHeads = fields.positive('num_key_value_heads');
  if (fields.has('per_layer_config')) {
    const own = readOverrides(fields, windows);
    return {
      kvHeads: own.positive('num_key_value_heads', kvHeads),
      headDim: own.positive('head_dim', fields.positive('head_dim')),
      keysAreValues,
    };
  }
  return {
    // transformers reads the field where keys are values alone.
    kvHeads: keysAreValues ? fields.positive('num_global_key_value_heads', kvHeads) : kvHeads,
    headDim: fields.positive('global_head_dim'),
    keysAreValues,
  };
}

/**
 * What transformers 5 saves in place of global_head_dim: {layer: {head_dim, num_key_value_heads}}, the numbers of layers padded
 * with zeros to one width.
 */
function readOverrides(fields: FieldReader, windows: readonly number[]): FieldReader {
  const layers = fields.child('per_layer_config');
  const given = fields.value('per_layer_config');
  const keys = isObject(given) ? Object.keys(given) : [];
  const texts = new Map(keys.map((key) => [Number(key), quote(layers.value(key))]));
  const global = windows.flatMap((window, i) => (window === 0 ? [i] : []));
  const expected = texts.get(global[0] ?? NaN);
  if (windows.some((window, i) => texts.get(i) !== (window === 0 ? expected : undefined))) {
    throw unsupported(
      `per_layer_config is ${quote(given)}: it has to be one for all layers without a window ` +
        `(${global.join(', ')}), and none for others`,
    );
  }
  const key = keys.find((each) => Number(each) === global[0]) ?? '';
  const own = layers.value(key);
  const other = Object.keys(isObject(own) ? own : {}).find((field) => !overridden.includes(field));
  if (other !== undefined) {
    throw unsupported(
      `per_layer_config.${key} has ${other}; what layers may have of their own: ${overridden.join(', ')}`,
    );
  }
  return layers.child(key);
}

/** The dense layer beside the experts is the one that every row runs. */
export function readGemma4Experts(fields: FieldReader): MoeDimensions {
  const moe = {
    experts: fields.parts('num_experts'),
    topK: fields.positive('top_k_experts'),
    ffn: fields.positive('moe_intermediate_size'),
    sharedFfn: fields.positive('intermediate_size'),
    sharedGate: false,
    sigmoid: null,
    normalized: true,
    biases: false,
    clampedSwiglu: null,
    ownNorms: true,
  };
  fields.check(moe.topK <= moe.experts, 'top_k_experts must not be more than num_experts');
  return moe;
}
