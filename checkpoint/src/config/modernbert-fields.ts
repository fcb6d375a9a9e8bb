// What config.json says of ModernBERT beyond what other models have: norms that subtract the mean, exact GELU gates, and windows
// to both sides in most layers, which rotate by angles of their own.

import type { Architecture } from './architecture.js';
import { type FieldReader, isObject, quote, unsupported } from './config-fields.js';
import { namedTypes } from './layer-kinds.js';
import type { ModelShape } from './model-shape.js';
import { readWindowRope } from './rope.js';

type ModernBertShape = Pick<
  ModelShape,
  'normEpsilon' | 'layerNorm' | 'embeddingNorm' | 'activation' | 'windows' | 'theta' | 'windowRope'
>;

interface Sizes extends Pick<ModelShape, 'hidden' | 'heads' | 'headDim'> {
  readonly layers: number;
}

/** Of layers without a window and of those with one, as rope_parameters has them. */
const ropes = ['full_attention', 'sliding_attention'] as const;

/** @throws FailureError UnsupportedArchitecture */
export function readModernBert(fields: FieldReader, { name }: Architecture, sizes: Sizes): ModernBertShape {
  if (fields.flag('norm_bias', false))
    throw unsupported(`norm_bias is true, which is not supported for ${name}`);
  // Which of the two angles it would be of, only newer releases say.
  if (fields.has('rope_scaling')) throw unsupported(`rope_scaling is not supported for ${name}`);
  checkRotation(fields, name, sizes);
  const [full, sliding] = ropes.map((kind) =>
    fields.child('rope_parameters').child(kind).positiveNumber('rope_theta'),
  );
  const theta = full ?? fields.positiveNumber('global_rope_theta') ?? 160_000;
  return {
    normEpsilon: fields.positiveNumber('norm_eps') ?? 1e-5,
    layerNorm: true,
    embeddingNorm: true,
    activation: 'erfGelu',
    windows: readLocalWindows(fields, sizes.layers),
    theta,
    windowRope: {
      ...readWindowRope(fields, sizes.headDim),
      theta: sliding ?? fields.positiveNumber('local_rope_theta') ?? theta,
    },
  };
}

/** All features of a head rotate, by nothing but the two angles. Much that says otherwise is passed over by transformers. */
function checkRotation(fields: FieldReader, name: string, { hidden, heads, headDim }: Sizes): void {
  if (fields.has('head_dim') && headDim * heads !== hidden) {
    throw unsupported(
      `head_dim is ${quote(fields.value('head_dim'))}; for ${name} only hidden_size / num_attention_heads = ${String(hidden / heads)} is supported`,
    );
  }
  const parameters = fields.child('rope_parameters');
  const given = fields.value('rope_parameters');
  const keys = isObject(given) ? Object.keys(given) : [];
  if (keys.length > 0 && !ropes.some((kind) => keys.includes(kind))) {
    throw unsupported(
      `rope_parameters has ${keys.join(', ')}; for ${name} it has to have ${ropes.join(' and ')}, each with its own`,
    );
  }
  checkWhole(fields, '', name);
  for (const kind of ropes) {
    const rope = parameters.child(kind);
    const at = `rope_parameters.${kind}.`;
    const type = rope.value('rope_type') ?? rope.value('type') ?? 'default';
    if (type !== 'default')
      throw unsupported(`${at}rope_type ${quote(type)} is not supported for ${name}, only default`);
    checkWhole(rope, at, name);
  }
}

function checkWhole(rope: FieldReader, at: string, name: string): void {
  const share = rope.number('partial_rotary_factor') ?? 1;
  if (share === 1) return;
  throw unsupported(`${at}partial_rotary_factor ${quote(share)} is not supported for ${name}, only 1`);
}

/** Half of `local_attention` to each side, in layers that layer_types names, else in all but every n-th from the first on. */
function readLocalWindows(fields: FieldReader, layers: number): number[] {
  const window = Math.floor(fields.positive('local_attention', 128) / 2) + 1;
  const every = fields.positive('global_attn_every_n_layers', 3);
  const types = namedTypes(fields, layers, ['full_attention', 'sliding_attention']);
  return Array.from({ length: layers }, (_, i) => {
    const isLocal = types === null ? i % every !== 0 : types[i] === 'sliding_attention';
    return isLocal ? window : 0;
  });
}
