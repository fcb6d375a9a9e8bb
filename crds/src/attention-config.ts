// Rotary scalings and attention windows of config.json that the engine has.

import type { Architecture } from './architectures.js';
import { type ConfigObject, isObject, quote } from './config-fields.js';
import { FailureError } from './failures.js';

const ropeTypes: readonly unknown[] = ['default', 'linear', 'llama3', 'yarn'];

/** @throws FailureError UnsupportedArchitecture for a rotary scaling that the engine lacks */
export function checkRope(text: ConfigObject): void {
  const scaling = text['rope_parameters'] ?? text['rope_scaling'];
  if (!isObject(scaling)) return;
  const type = scaling['rope_type'] ?? scaling['type'] ?? 'default';
  if (ropeTypes.includes(type)) return;
  throw new FailureError(
    'UnsupportedArchitecture',
    `config.json: rope_type ${quote(type)} is not supported; supported: ${ropeTypes.join(', ')}`,
  );
}

/** @throws FailureError UnsupportedArchitecture, CheckpointCorrupt */
export function checkWindow(text: ConfigObject, architecture: Architecture): void {
  const slides = text['use_sliding_window'] === true && typeof text['sliding_window'] === 'number';
  if (slides && architecture !== 'qwen3' && architecture !== 'qwen3_moe') {
    throw new FailureError(
      'UnsupportedArchitecture',
      `config.json: use_sliding_window is true, which is not supported for ${architecture}, only for qwen3 and qwen3_moe`,
    );
  }
  const types = text['layer_types'];
  if (!slides && architecture === 'qwen3' && Array.isArray(types) && types.includes('sliding_attention')) {
    throw new FailureError(
      'CheckpointCorrupt',
      'config.json: layer_types names sliding_attention but use_sliding_window is not true',
    );
  }
}
