// What config.json says of the small sizes of Gemma 4 (E2B, E4B) beyond what the large ones have: embeddings of each layer, and
// last layers that attend by keys and values of earlier ones.

import { type FieldReader, quote, unsupported } from './config-fields.js';
import { rounded, typeOf } from './gemma-fields.js';
import type { LayerEmbeddings, ModelShape, SharedKv } from './model-shape.js';

type SmallShape = Pick<ModelShape, 'sharedKv' | 'layerEmbeddings'>;

/** Of a mixture of experts, neither is known of any release. */
const onlyDense = [
  ['hidden_size_per_layer_input', 'embeddings of each layer'],
  ['num_kv_shared_layers', 'layers that share the keys and values of others'],
] as const;

/**
 * @param outer all of config.json, whose text part `fields` are
 * @param windows of each layer, 0: none
 * @throws FailureError UnsupportedArchitecture
 */
export function readSmallGemma4(
  outer: FieldReader,
  fields: FieldReader,
  windows: readonly number[],
  isMixture: boolean,
): SmallShape {
  for (const [field, meaning] of isMixture ? onlyDense : []) {
    const value = fields.value(field);
    if (value === 0) continue;
    throw unsupported(
      `${field} is ${quote(value)}: ${meaning} are not supported beside experts; what works: 0, as 26B-A4B has it`,
    );
  }
  return { layerEmbeddings: readLayerEmbeddings(outer, fields), sharedKv: readSharedKv(fields, windows) };
}

function readLayerEmbeddings(outer: FieldReader, fields: FieldReader): LayerEmbeddings | null {
  if (fields.value('hidden_size_per_layer_input') === 0) return null;
  const width = fields.positive('hidden_size_per_layer_input');
  const tokens = fields.positive('vocab_size_per_layer_input');
  const vocab = fields.positive('vocab_size');
  if (tokens !== vocab) {
    throw unsupported(
      `vocab_size_per_layer_input is ${String(tokens)}: each token needs its embeddings of layers; what works: vocab_size, ` +
        String(vocab),
    );
  }
  return { width, scale: rounded(Math.sqrt(width), typeOf(outer) ?? typeOf(fields)) };
}

function readSharedKv(fields: FieldReader, windows: readonly number[]): SharedKv | null {
  const layers = fields.number('num_kv_shared_layers') ?? 0;
  if (layers === 0) return null;
  const first = windows.length - layers;
  const isCount = Number.isInteger(layers) && layers > 0 && first > 0;
  fields.check(
    isCount,
    `num_kv_shared_layers must be less than num_hidden_layers = ${String(windows.length)}, found ${String(layers)}`,
  );
  const own = windows.slice(0, Math.max(first, 1));
  const orphan = windows.findIndex((window) => !own.includes(window));
  if (isCount && orphan !== -1) {
    const kind = windows[orphan] === 0 ? 'without a window' : 'with a window';
    throw unsupported(
      `num_kv_shared_layers is ${String(layers)}: layer ${String(orphan)} is ${kind}, and none of the first ${String(first)} ` +
        'is, whose keys and values it could read; what works: less shared layers, or other layer_types',
    );
  }
  const ffn = fields.positive('intermediate_size');
  return { layers, ffn: fields.flag('use_double_wide_mlp', false) ? 2 * ffn : ffn };
}
