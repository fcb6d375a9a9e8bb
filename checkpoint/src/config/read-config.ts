// config.json to one complete, typed shape, or a typed failure.
// Pure: the text was read by someone else (operator by range read, runtime from disk). Used before any weight is read.

import { FailureError } from '@llmservice/crds';
import { parseSmallJson } from '../json/small-json.js';
import type { Architecture, Bias } from './architecture.js';
import { architectures, supportedModelTypes } from './architectures.js';
import { type ConfigObject, FieldReader, isObject, quote, unsupported } from './config-fields.js';
import { readBert } from './bert-fields.js';
import { checkActivation, halfWindow, isBidirectional, readGemma } from './gemma-fields.js';
import { readGemma4Experts, readGlobalAttention } from './gemma4-fields.js';
import { readSmallGemma4 } from './gemma4-small-fields.js';
import { readLabels } from './labels.js';
import { readFeedForward, readLayerKinds, readWindows } from './layer-kinds.js';
import type { GdnDimensions, ModelShape, MoeDimensions } from './model-shape.js';
import { readModernBert } from './modernbert-fields.js';
import { parseQuantization } from './quantization.js';
import { readRope } from './rope.js';
import { readSigmoidRouting, sharedWidth } from './sigmoid-experts.js';

/**
 * Reads config.json (text, or already parsed).
 * @throws FailureError UnsupportedArchitecture, UnsupportedQuantization, CheckpointCorrupt
 */
export function parseCheckpointConfig(source: string | object): ModelShape {
  const top = parseConfigObject(source);
  const architecture = findArchitecture(top);
  const quantization = parseQuantization(top);
  const outer = new FieldReader(top);
  // Multimodal releases keep the language model's fields in text_config; text-only ones have them at the top.
  const given = outer.has('text_config') ? outer.child('text_config') : outer;
  const fields = given.over(architecture.defaults);
  const { hybrid, gemma, gptOss, modernBert, qkNorm } = architecture;
  const looksAhead = isBidirectional(fields, architecture, outer.has('text_config'));
  const encoder = architecture.encoder || looksAhead;

  const layers = fields.parts('num_hidden_layers');
  const heads = fields.positive('num_attention_heads');
  const hidden = fields.positive('hidden_size');
  const kvHeads = fields.positive(
    'num_key_value_heads',
    architecture.kvHeads === 'heads' ? heads : undefined,
  );
  const headDim = fields.positive(
    'head_dim',
    architecture.headDim ?? Math.max(1, Math.floor(hidden / heads)),
  );
  const feedForward = readFeedForward(fields, architecture, layers);
  const bias = (kind: Bias): boolean => kind === 'always' || (kind !== 'none' && fields.flag(kind, false));
  const labels = readLabels(outer);
  const read = modernBert ? [] : readWindows(fields, architecture, layers);
  const windows = looksAhead ? read.map(halfWindow) : read;
  const globalAttention = gemma?.fourth === true ? readGlobalAttention(fields, windows) : null;
  const shape = {
    architecture: architecture.name,
    hidden,
    heads,
    kvHeads,
    headDim,
    globalAttention,
    ...(gemma?.fourth === true
      ? readSmallGemma4(outer, fields, windows, architecture.experts !== null)
      : { sharedKv: null, layerEmbeddings: null }),
    feedForward,
    ffn: feedForward.includes('dense') ? fields.positive('intermediate_size') : 0,
    vocab: fields.positive('vocab_size'),
    normEpsilon: fields.positiveNumber('rms_norm_eps') ?? 1e-6,
    unitOffsetNorm: hybrid !== null || gemma?.fourth === false,
    bert: null,
    layerNorm: false,
    embeddingNorm: false,
    qkNorm: typeof qkNorm === 'string' ? fields.flag(qkNorm, false) : qkNorm,
    valueNorm: gemma?.fourth === true,
    layerScalars: gemma?.fourth === true,
    qkvBias: bias(architecture.biases.qkv),
    outputBias: bias(architecture.biases.output),
    mlpBias: bias(architecture.biases.mlp),
    outputGate: hybrid !== null && fields.flag('attn_output_gate', true),
    tiedEmbeddings:
      given.flag(
        'tie_word_embeddings',
        outer.flag('tie_word_embeddings', fields.flag('tie_word_embeddings', false)),
      ) ||
      labels > 0 ||
      encoder,
    generates: labels === 0 && !encoder,
    labels,
    quantization,
    layerKinds: readLayerKinds(fields, architecture, layers),
    windows,
    gdn: readGdn(fields, architecture),
    moe: readMoe(fields, architecture),
    attentionSinks: gptOss,
    bidirectional: encoder,
    ...readRope(
      fields,
      globalAttention?.headDim ?? headDim,
      hybrid === null ? 1 : 0.25,
      gemma?.localRope !== true,
    ),
    ...readGemma(outer, fields, architecture, { hidden, headDim }),
    ...(architecture.bert === null ? {} : readBert(fields, architecture)),
    ...(modernBert ? readModernBert(fields, architecture, { layers, hidden, heads, headDim }) : {}),
  };
  fields.check(heads % kvHeads === 0, 'num_attention_heads must be a multiple of num_key_value_heads');
  fields.check(
    heads % (globalAttention?.kvHeads ?? 1) === 0,
    'num_attention_heads must be a multiple of num_global_key_value_heads',
  );
  checkActivation(fields, architecture);
  if (encoder) checkEncoder(outer, architecture);
  fields.finish();
  return shape;
}

/** @throws FailureError CheckpointCorrupt */
export function parseConfigObject(source: string | object): ConfigObject {
  const value = typeof source === 'string' ? parseSmallJson('config.json', source) : source;
  if (!isObject(value)) throw new FailureError('CheckpointCorrupt', 'config.json is not a JSON object');
  return value;
}

function findArchitecture(top: ConfigObject): Architecture {
  const modelType = top['model_type'] ?? undefined;
  const text = isObject(top['text_config']) ? top['text_config'] : top;
  const found = architectures.find(
    (each) =>
      each.modelTypes.includes(modelType as string) && (each.switch === null || text[each.switch] === true),
  );
  if (found !== undefined) {
    checkTextOf(found, modelType as string, text['model_type']);
    return found;
  }
  const problem =
    modelType === undefined ? 'there is no model_type' : `model_type ${quote(modelType)} is not supported`;
  throw unsupported(`${problem}; supported: ${supportedModelTypes.join(', ')}`);
}

/** Of which releases with other texts are known. */
const mixedWrappers: readonly string[] = ['mistral3', 'qwen3_vl'];

/** A wrapper may hold the text of another architecture. */
function checkTextOf({ modelTypes }: Architecture, wrapper: string, text: unknown): void {
  if (!mixedWrappers.includes(wrapper)) return;
  const served = [...new Set([...modelTypes, `${wrapper}_text`])];
  if ((text ?? null) === null || served.includes(text as string)) return;
  throw unsupported(
    `text_config.model_type ${quote(text)} is not supported with model_type ${wrapper}; supported: ${served.join(', ')}`,
  );
}

const withoutLabels = /(?:Model|ForMaskedLM)$/;
/** Its head for sequence classification reads the first token. */
const ofBert = /(?:Model|ForMaskedLM|ForSequenceClassification)$/;
/** What was made of a model that generates, may be saved as one. */
const ofDecoders = /(?:Model|ForCausalLM)$/;

/** Heads of encoders for masked language modeling are left alone; all others have layers of their own, which nothing runs. */
function checkEncoder(fields: FieldReader, { name, gemma, bert }: Architecture): void {
  const [first] = fields.list('architectures') ?? [];
  const known = bert === null ? withoutLabels : ofBert;
  if (typeof first === 'string' && !(gemma === null ? known : ofDecoders).test(first)) {
    const what =
      bert === null ? 'only embeddings are' : 'embeddings and heads for sequence classification are';
    throw unsupported(`${first} is not supported: of ${name}, ${what}`);
  }
  if (fields.flag('is_causal', false))
    throw unsupported(`is_causal is true, which is not supported for ${name}`);
}

function readGdn(fields: FieldReader, { hybrid }: Architecture): GdnDimensions | null {
  if (hybrid === null) return null;
  const gdn = {
    kHeads: fields.positive('linear_num_key_heads'),
    vHeads: fields.positive('linear_num_value_heads'),
    kDim: fields.positive('linear_key_head_dim'),
    vDim: fields.positive('linear_value_head_dim'),
    convKernel: fields.positive('linear_conv_kernel_dim', 4),
    interleaved: hybrid.interleaved,
    tiled: false,
  };
  fields.check(
    gdn.vHeads % gdn.kHeads === 0,
    'linear_num_value_heads must be a multiple of linear_num_key_heads',
  );
  return gdn;
}

function readMoe(
  fields: FieldReader,
  { experts, gptOss, sigmoidExperts, gemma }: Architecture,
): MoeDimensions | null {
  if (experts === null) return null;
  if (gemma?.fourth === true) return readGemma4Experts(fields);
  const { shared, normalized, width } = experts;
  const named = sigmoidExperts ? 'n_routed_experts' : 'num_experts';
  // Newer releases name it num_local_experts.
  const count = fields.parts(fields.has('num_local_experts') ? 'num_local_experts' : named);
  const topK = fields.positive('num_experts_per_tok');
  const ffn = fields.positive(width);
  const ownShared = shared && !sigmoidExperts;
  const moe = {
    ...{ experts: count, topK, ffn },
    sharedFfn: ownShared
      ? fields.positive('shared_expert_intermediate_size')
      : sigmoidExperts
        ? sharedWidth(fields, ffn)
        : 0,
    sharedGate: ownShared,
    sigmoid: sigmoidExperts ? readSigmoidRouting(fields, count, topK) : null,
    normalized: normalized === 'always' || fields.flag('norm_topk_prob', normalized),
    biases: gptOss,
    clampedSwiglu: gptOss
      ? {
          limit: fields.positiveNumber('swiglu_limit') ?? 7,
          alpha: fields.positiveNumber('swiglu_alpha') ?? 1.702,
        }
      : null,
    ownNorms: false,
  };
  fields.check(moe.topK <= moe.experts, 'num_experts_per_tok must not be more than the number of experts');
  return moe;
}
