// What config.json of AMD's Quark says of weights: in global_quant_config, and by modules in layer_quant_config and
// layer_type_quant_config. Activations and the KV cache are quantized too, which is not about weights.

import type { FailureError } from '@llmservice/crds';
import { type ConfigObject, isObject, quote } from './config-fields.js';

export type QuarkKind = 'fp8' | 'mxfp4';

/** Rotations of activations that the checkpoint leaves to whoever runs it. */
const online = ['online_r1_rotation', 'r3', 'r4'];

/**
 * Of all modules whose weights are quantized.
 * @param refused makes the error of what is not read
 * @throws FailureError as `refused` makes it
 */
export function quarkKinds(config: ConfigObject, refused: (problem: string) => FailureError): QuarkKind[] {
  checkRotations(config['algo_config'], refused);
  return entriesOf(config).flatMap(([where, entry]) => {
    const weight = isObject(entry) ? (entry['weight'] ?? null) : null;
    if (weight === null) return [];
    const kind = isObject(weight) ? kindOf(weight) : null;
    if (kind === null) throw refused(`${where} has weights ${quote(weight)}`);
    return [kind];
  });
}

function entriesOf(config: ConfigObject): (readonly [string, unknown])[] {
  const modules = ['layer_quant_config', 'layer_type_quant_config'].flatMap((field) => {
    const declared = config[field];
    const entries = Object.entries(isObject(declared) ? declared : {});
    return entries.map(([name, entry]) => [`${field}.${name}`, entry] as const);
  });
  return [['global_quant_config', config['global_quant_config']], ...modules];
}

function kindOf(weight: ConfigObject): QuarkKind | null {
  const {
    dtype,
    qscheme,
    ch_axis: axis,
    group_size: group,
    scale_format: scales,
    is_dynamic: dynamic,
  } = weight;
  if (dynamic === true) return null;
  if (dtype === 'fp8_e4m3') {
    const byRow = qscheme === 'per_channel' && (axis === 0 || axis === null || axis === undefined);
    return byRow || qscheme === 'per_tensor' ? 'fp8' : null;
  }
  const isMx = dtype === 'fp4' && qscheme === 'per_group' && group === 32 && scales === 'e8m0';
  return isMx ? 'mxfp4' : null;
}

function checkRotations(declared: unknown, refused: (problem: string) => FailureError): void {
  const algorithms: unknown[] = Array.isArray(declared) ? declared : [declared];
  for (const algorithm of algorithms) {
    if (isObject(algorithm) && online.some((field) => algorithm[field] === true)) {
      throw refused(`algo_config rotates activations: ${quote(algorithm)}`);
    }
  }
}
