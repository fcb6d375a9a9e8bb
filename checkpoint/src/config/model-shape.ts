// What a checkpoint's config.json says of the model: one complete, typed shape, or a typed failure.
// Pure: the text was read by someone else (operator by range read, runtime from disk). Used before any weight is read.

import { type Architecture, hybrids, supportedModelTypes } from './architectures.js';
import { type ConfigObject, FieldReader, isObject, quote } from './config-fields.js';
import { FailureError } from '@llmservice/crds';
import { parseQuantization, type Quantization } from './quantization.js';
import { hasDenseLayers, type MoeDimensions, readMoe } from './moe-config.js';
import { checkWindow, readRope, type Rope } from './attention-config.js';
import { parseSmallJson } from '../json/small-json.js';

/** Attention (full, or sliding, whose KV is all kept) has KV per token; Gated DeltaNet (gdn) one state per sequence. */
export type LayerKind = 'full' | 'gdn';

/** Heads and widths of the Gated DeltaNet layers. */
export interface GdnDimensions {
  readonly kHeads: number;
  readonly vHeads: number;
  readonly kDim: number;
  readonly vDim: number;
  readonly convKernel: number;
  /** Value heads lie in rounds over all key heads, as GGUF files have them, which no number of ranks divides. */
  readonly tiled?: boolean;
}

export interface ModelShape extends Rope {
  readonly architecture: Architecture;
  readonly layerKinds: readonly LayerKind[];
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Width of the dense feed-forward layers; 0 where all are mixtures of experts. */
  readonly ffn: number;
  readonly vocab: number;
  /** Null where no layer is a gdn layer. */
  readonly gdn: GdnDimensions | null;
  /** Null where no layer is a mixture of experts. */
  readonly moe: MoeDimensions | null;
  readonly tiedEmbeddings: boolean;
  readonly quantization: Quantization;
}

/**
 * Reads config.json (text, or already parsed).
 * @throws FailureError UnsupportedArchitecture, UnsupportedQuantization, CheckpointCorrupt
 */
export function parseCheckpointConfig(source: string | object): ModelShape {
  const top = asObject(source);
  const architecture = readArchitecture(top);
  const quantization = parseQuantization(top);
  // Multimodal releases keep the language model's fields in text_config; text-only ones have them at the top.
  const text = hybrids.has(architecture) && isObject(top['text_config']) ? top['text_config'] : top;
  const fields = new FieldReader(text);

  const layers = fields.count('num_hidden_layers');
  const heads = fields.positive('num_attention_heads');
  const hidden = fields.positive('hidden_size');
  const shape = {
    architecture,
    hidden,
    heads,
    kvHeads: fields.positive('num_key_value_heads', architecture === 'llama' ? heads : undefined),
    // transformers' defaults where a config leaves head_dim out.
    headDim: fields.positive('head_dim', defaultHeadDim(architecture) ?? hidden / heads),
    ffn: hasDenseLayers(fields, text, architecture, layers) ? fields.positive('intermediate_size') : 0,
    vocab: fields.positive('vocab_size'),
    tiedEmbeddings: (text['tie_word_embeddings'] ?? top['tie_word_embeddings']) === true,
    quantization,
  };
  const maxPositions = fields.positive('max_position_embeddings');
  const gdn = hybrids.has(architecture) ? readGdn(fields) : null;
  const moe = readMoe(fields, architecture);
  fields.check(
    shape.heads % shape.kvHeads === 0,
    'num_attention_heads must be a multiple of num_key_value_heads',
  );
  if (gdn !== null) {
    fields.check(
      gdn.vHeads % gdn.kHeads === 0,
      'linear_num_value_heads must be a multiple of linear_num_key_heads',
    );
  }
  fields.finish();
  checkWindow(text, architecture);
  const rope = readRope(text, architecture, shape.headDim, maxPositions);
  return { ...shape, ...rope, layerKinds: readLayerKinds(text, architecture, layers), gdn, moe };
}

function defaultHeadDim(architecture: Architecture): number | null {
  if (hybrids.has(architecture)) return 256;
  return architecture === 'qwen3' ? 128 : null;
}

function asObject(source: string | object): ConfigObject {
  const value = typeof source === 'string' ? parseSmallJson('config.json', source) : source;
  if (!isObject(value)) throw new FailureError('CheckpointCorrupt', 'config.json is not a JSON object');
  return value;
}

function readArchitecture(top: ConfigObject): Architecture {
  const modelType = top['model_type'];
  if (typeof modelType === 'string' && Object.hasOwn(supportedModelTypes, modelType)) {
    return supportedModelTypes[modelType] as Architecture;
  }
  const found =
    modelType === undefined
      ? 'config.json has no model_type'
      : `model_type ${quote(modelType)} is not supported`;
  throw new FailureError(
    'UnsupportedArchitecture',
    `${found}; supported: ${Object.keys(supportedModelTypes).join(', ')}`,
  );
}

function readGdn(fields: FieldReader): GdnDimensions {
  return {
    kHeads: fields.positive('linear_num_key_heads'),
    vHeads: fields.positive('linear_num_value_heads'),
    kDim: fields.positive('linear_key_head_dim'),
    vDim: fields.positive('linear_value_head_dim'),
    convKernel: fields.positive('linear_conv_kernel_dim'),
  };
}

const hybridLayerTypes: ReadonlyMap<unknown, LayerKind> = new Map([
  ['full_attention', 'full'],
  ['linear_attention', 'gdn'],
]);
const slidingLayerTypes: ReadonlyMap<unknown, LayerKind> = new Map([
  ['full_attention', 'full'],
  ['sliding_attention', 'full'],
]);
const fullLayerTypes: ReadonlyMap<unknown, LayerKind> = new Map([['full_attention', 'full']]);

function layerTypesOf(architecture: Architecture): ReadonlyMap<unknown, LayerKind> {
  if (hybrids.has(architecture)) return hybridLayerTypes;
  return architecture === 'qwen3' ? slidingLayerTypes : fullLayerTypes;
}

/** Layer i of a hybrid is full attention iff `layer_types` says so, else iff (i+1) % full_attention_interval = 0. */
function readLayerKinds(text: ConfigObject, architecture: Architecture, layers: number): LayerKind[] {
  const types = text['layer_types'];
  if (types === undefined || types === null) {
    if (!hybrids.has(architecture)) return Array.from({ length: layers }, () => 'full');
    const interval = new FieldReader(text);
    const every = interval.positive('full_attention_interval', 4);
    interval.finish();
    return Array.from({ length: layers }, (_, i) => ((i + 1) % every === 0 ? 'full' : 'gdn'));
  }
  if (!Array.isArray(types) || types.length !== layers) {
    throw new FailureError(
      'CheckpointCorrupt',
      `config.json: layer_types must list num_hidden_layers = ${String(layers)} entries`,
    );
  }
  const supported = layerTypesOf(architecture);
  return types.map((type: unknown) => {
    const kind = supported.get(type);
    if (kind === undefined) {
      throw new FailureError(
        'UnsupportedArchitecture',
        `layer_types has ${quote(type)}, which ${architecture} does not support here; ` +
          `supported: ${[...supported.keys()].join(', ')}`,
      );
    }
    return kind;
  });
}
