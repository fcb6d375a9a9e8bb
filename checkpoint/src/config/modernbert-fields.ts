// What config.json says of ModernBERT beyond what other models have: norms that subtract the mean, exact GELU gates, and windows
// to both sides in most layers, which rotate by angles of their own.

import type { Architecture } from './architectures.js';
import { type FieldReader, unsupported } from './config-fields.js';
import { namedTypes } from './layer-kinds.js';
import type { ModelShape } from './model-shape.js';
import { readWindowRope } from './rope.js';

type ModernBertShape = Pick<
  ModelShape,
  'normEpsilon' | 'layerNorm' | 'embeddingNorm' | 'activation' | 'windows' | 'theta' | 'windowRope'
>;

/** @throws FailureError UnsupportedArchitecture */
export function readModernBert(
  fields: FieldReader,
  { name }: Architecture,
  { layers, headDim }: { readonly layers: number; readonly headDim: number },
): ModernBertShape {
  if (fields.flag('norm_bias', false))
    throw unsupported(`norm_bias is true, which is not supported for ${name}`);
  // Which of the two angles it would be of, only newer releases say.
  if (fields.has('rope_scaling')) throw unsupported(`rope_scaling is not supported for ${name}`);
  const rope = fields.child('rope_parameters').child('full_attention');
  const windowRope = readWindowRope(fields, headDim);
  return {
    normEpsilon: fields.positiveNumber('norm_eps') ?? 1e-5,
    layerNorm: true,
    embeddingNorm: true,
    activation: 'erfGelu',
    windows: readLocalWindows(fields, layers),
    theta: rope.positiveNumber('rope_theta') ?? fields.positiveNumber('global_rope_theta') ?? 160_000,
    windowRope: { ...windowRope, theta: localTheta(fields) },
  };
}

function localTheta(fields: FieldReader): number {
  const rope = fields.child('rope_parameters').child('sliding_attention');
  return rope.positiveNumber('rope_theta') ?? fields.positiveNumber('local_rope_theta') ?? 10_000;
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
