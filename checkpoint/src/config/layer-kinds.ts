// Which layer of config.json is what: attention over all positions or a window of them, Gated DeltaNet, dense or sparse.

import type { Architecture } from './architecture.js';
import { type FieldReader, quote, unsupported } from './config-fields.js';

/** Attention (full, or within a window, whose KV is all kept) has KV per token; Gated DeltaNet (gdn) one state per sequence. */
export type LayerKind = 'full' | 'gdn';
export type FeedForwardKind = 'dense' | 'moe';

/** Layer i of a hybrid is full attention iff `layer_types` says so, else iff (i+1) % full_attention_interval = 0. */
export function readLayerKinds(fields: FieldReader, { hybrid }: Architecture, layers: number): LayerKind[] {
  if (hybrid === null) return Array.from({ length: layers }, () => 'full');
  const types = namedTypes(fields, layers, ['full_attention', 'linear_attention']);
  const every = fields.positive('full_attention_interval', 4);
  return Array.from({ length: layers }, (_, i) => {
    const isFull = types === null ? (i + 1) % every === 0 : types[i] === 'full_attention';
    return isFull ? 'full' : 'gdn';
  });
}

/** Positions that each layer's attention sees; 0: all before it. */
export function readWindows(
  fields: FieldReader,
  { name, window, hybrid, gemma }: Architecture,
  layers: number,
): number[] {
  const slides = fields.flag('use_sliding_window', false) && fields.has('sliding_window');
  if (window === null && slides) {
    throw unsupported(`use_sliding_window is true, which is not supported for ${name}`);
  }
  const types =
    hybrid === null
      ? namedTypes(fields, layers, [
          'full_attention',
          ...(window !== null && window.layers !== 'all' ? ['sliding_attention'] : []),
        ])
      : null;
  const isOn = window !== null && (window.switch === null ? fields.has('sliding_window') : slides);
  fields.check(
    isOn || types?.includes('sliding_attention') !== true,
    'layer_types names sliding_attention but use_sliding_window is not true',
  );
  if (!isOn) return Array.from({ length: layers }, () => 0);
  const width = fields.positive('sliding_window');
  const hasWindow =
    types === null || window.layers === 'all'
      ? unnamedWindows(fields, window.layers)
      : (i: number) => types[i] === 'sliding_attention';
  // Of Gemma 4, the last layer has none, whatever its type is said to be.
  const last = gemma?.fourth === true ? layers - 1 : layers;
  return Array.from({ length: layers }, (_, i) => (hasWindow(i) && i !== last ? width : 0));
}

/** Whether a layer has a window where layer_types does not say. */
function unnamedWindows(
  fields: FieldReader,
  layers: 'all' | 'named' | 'pattern',
): (layer: number) => boolean {
  if (layers === 'all') return () => true;
  if (layers === 'pattern') {
    const every = fields.positive('sliding_window_pattern', 1);
    return (i) => (i + 1) % every !== 0;
  }
  const first = fields.number('max_window_layers') ?? 28;
  return (i) => i >= first;
}

/** Layer i is dense if mlp_only_layers names it or decoder_sparse_step does not divide i + 1, where there are such fields. */
export function readFeedForward(
  fields: FieldReader,
  { experts, sigmoidExperts }: Architecture,
  layers: number,
): FeedForwardKind[] {
  if (experts === null) return Array.from({ length: layers }, () => 'dense');
  if (sigmoidExperts) return readFirstDense(fields, layers);
  if (experts.everyLayer) return Array.from({ length: layers }, () => 'moe');
  const named = new Set(fields.list('mlp_only_layers') ?? []);
  const step = fields.positive('decoder_sparse_step', 1);
  return Array.from({ length: layers }, (_, i) => (named.has(i) || (i + 1) % step !== 0 ? 'dense' : 'moe'));
}

/** The first layers are dense, all others are mixtures of experts. */
function readFirstDense(fields: FieldReader, layers: number): FeedForwardKind[] {
  const first = fields.number('first_k_dense_replace') ?? 0;
  fields.check(
    Number.isInteger(first) && first >= 0 && first <= layers,
    `first_k_dense_replace must be one of 0 to num_hidden_layers = ${String(layers)}, found ${String(first)}`,
  );
  return Array.from({ length: layers }, (_, i) => (i < first ? 'dense' : 'moe'));
}

/** layer_types; null where config.json has none. */
export function namedTypes(
  fields: FieldReader,
  layers: number,
  known: readonly string[],
): readonly unknown[] | null {
  const types = fields.list('layer_types');
  if (types === null) return null;
  fields.check(
    types.length === layers,
    `layer_types must list num_hidden_layers = ${String(layers)} entries`,
  );
  const foreign = types.find((type) => !known.includes(type as string));
  if (foreign === undefined && !types.includes(undefined)) return types;
  throw unsupported(`layer_types has ${quote(foreign)}; supported here: ${known.join(', ')}`);
}
