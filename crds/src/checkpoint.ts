// What a checkpoint's config.json says of the model: one complete, typed shape, or a typed failure.
// Pure: the text was read by someone else (operator by range read, runtime from disk). Used before any weight is read.

import { FailureError } from './failures.js';
import { parseQuantization, type Quantization } from './quantization.js';

export const architectures = ['llama', 'qwen3', 'qwen3_5'] as const;
export type Architecture = (typeof architectures)[number];

/** `model_type` values that are accepted, and the architecture each one names. */
export const supportedModelTypes: Readonly<Record<string, Architecture>> = {
  llama: 'llama',
  qwen3: 'qwen3',
  qwen3_5: 'qwen3_5',
  qwen3_5_text: 'qwen3_5',
};

/** Full attention keeps KV per token; Gated DeltaNet (gdn) keeps a state of fixed size per sequence. */
export type LayerKind = 'full' | 'gdn';

/** Heads and widths of the Gated DeltaNet layers. */
export interface GdnDimensions {
  readonly kHeads: number;
  readonly vHeads: number;
  readonly kDim: number;
  readonly vDim: number;
  readonly convKernel: number;
}

export interface ModelShape {
  readonly architecture: Architecture;
  readonly layerKinds: readonly LayerKind[];
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffn: number;
  readonly vocab: number;
  /** Null where no layer is a gdn layer. */
  readonly gdn: GdnDimensions | null;
  readonly tiedEmbeddings: boolean;
  /** Longest context the checkpoint was made for, in tokens. */
  readonly maxPositionEmbeddings: number;
  readonly quantization: Quantization;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads config.json (text, or already parsed).
 * @throws FailureError UnsupportedArchitecture, UnsupportedQuantization, CheckpointCorrupt
 */
export function parseCheckpointConfig(source: string | object): ModelShape {
  const top = asObject(source);
  const architecture = readArchitecture(top);
  const quantization = parseQuantization(top);
  // Multimodal releases keep the language model's fields in text_config; text-only ones have them at the top.
  const text = architecture === 'qwen3_5' && isObject(top['text_config']) ? top['text_config'] : top;
  const fields = new FieldReader(text);

  const layers = fields.positive('num_hidden_layers');
  const heads = fields.positive('num_attention_heads');
  const hidden = fields.positive('hidden_size');
  const shape = {
    architecture,
    hidden,
    heads,
    kvHeads: fields.positive('num_key_value_heads', architecture === 'llama' ? heads : undefined),
    // transformers' defaults where a config leaves head_dim out.
    headDim: fields.positive('head_dim', architecture === 'llama' ? hidden / heads : 128),
    ffn: fields.positive('intermediate_size'),
    vocab: fields.positive('vocab_size'),
    tiedEmbeddings: (text['tie_word_embeddings'] ?? top['tie_word_embeddings']) === true,
    maxPositionEmbeddings: fields.positive('max_position_embeddings'),
    quantization,
  };
  const gdn = architecture === 'qwen3_5' ? readGdn(fields) : null;
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
  return { ...shape, layerKinds: readLayerKinds(text, architecture, layers), gdn };
}

function asObject(source: string | object): Json {
  let value: unknown = source;
  if (typeof source === 'string') {
    try {
      value = JSON.parse(source);
    } catch (error) {
      throw new FailureError(
        'CheckpointCorrupt',
        `config.json is not JSON: ${(error as Error).message}`,
        undefined,
        {
          cause: error,
        },
      );
    }
  }
  if (!isObject(value)) throw new FailureError('CheckpointCorrupt', 'config.json is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readArchitecture(top: Json): Architecture {
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

const kindOfLayerType: ReadonlyMap<unknown, LayerKind> = new Map([
  ['full_attention', 'full'],
  ['linear_attention', 'gdn'],
]);

/** Layer i of a hybrid is full attention iff `layer_types` says so, else iff (i+1) % full_attention_interval = 0. */
function readLayerKinds(text: Json, architecture: Architecture, layers: number): LayerKind[] {
  const types = text['layer_types'];
  if (types === undefined || types === null) {
    if (architecture !== 'qwen3_5') return Array.from({ length: layers }, () => 'full');
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
  return types.map((type: unknown) => {
    const kind = kindOfLayerType.get(type);
    if (kind === undefined || (kind === 'gdn' && architecture !== 'qwen3_5')) {
      throw new FailureError(
        'UnsupportedArchitecture',
        `layer_types has ${quote(type)}, which ${architecture} does not support here; ` +
          `supported: ${architecture === 'qwen3_5' ? 'full_attention, linear_attention' : 'full_attention'}`,
      );
    }
    return kind;
  });
}

/** Reads numbers and gathers every violation, so that one look at the message is enough. */
class FieldReader {
  private readonly violations: string[] = [];
  constructor(private readonly object: Json) {}

  positive(key: string, fallback?: number): number {
    const value = this.object[key] ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
    this.violations.push(
      value === undefined ? `${key} is missing` : `${key} must be a positive integer, found ${quote(value)}`,
    );
    return 1;
  }

  check(holds: boolean, violation: string): void {
    if (!holds && this.violations.length === 0) this.violations.push(violation);
  }

  finish(): void {
    if (this.violations.length === 0) return;
    throw new FailureError('CheckpointCorrupt', `config.json: ${this.violations.join('; ')}`);
  }
}

function quote(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).slice(0, 80);
}
