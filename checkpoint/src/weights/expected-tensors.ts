// The tensors that a model of a shape is made of: what has to be in its checkpoint, and with which sides. Scales are not among
// them.

import type { Eagle3 } from '../config/eagle3-config.js';
import type { FeedForwardKind, LayerKind } from '../config/layer-kinds.js';
import { type LayerShape, ofLayer } from '../config/layer-attention.js';
import type { BertDimensions, GdnDimensions, ModelShape, MoeDimensions } from '../config/model-shape.js';

/** Releases differ in the wrapper around the text model. */
const prefixes = ['model.language_model.', 'model.', 'language_model.model.'];
/** The runtime's own: the engine gives hidden states, and does not read it. */
export const classifierHead = 'score.weight';
/** That of an encoder of BERT's kind: what reads the first token, and what makes logits of it. */
export const encoderHead = ['classifier.dense', 'classifier.out_proj'] as const;
const heads = ['language_model.lm_head', 'lm_head'];

export interface Expected {
  readonly name: string;
  readonly sides: readonly number[];
  /** A matrix may be stored in four bits, two columns a byte, or in blocks; else each value alone. */
  readonly isMatrix: boolean;
}

/** What the checkpoint has: forms of one thing differ in their names. */
type Found = ReadonlyMap<string, unknown>;

/** All but those of the layer for multi-token prediction. */
export function* trunkTensors(shape: ModelShape, found: Found): Generator<Expected> {
  const prefix = prefixes.find((each) => found.has(`${each}embed_tokens.weight`)) ?? 'model.';
  const { hidden, vocab } = shape;
  yield matrix(`${prefix}embed_tokens`, vocab, hidden);
  if (shape.bert === null) yield vector(`${prefix}norm.weight`, hidden);
  else yield* bertTensors(prefix, shape.bert, shape);
  if (shape.embeddingNorm) yield vector(`${prefix}embed_norm.weight`, hidden);
  if (shape.layerEmbeddings !== null) {
    const { width } = shape.layerEmbeddings;
    yield matrix(`${prefix}embed_tokens_per_layer`, vocab, shape.layerKinds.length * width);
    yield matrix(`${prefix}per_layer_model_projection`, shape.layerKinds.length * width, hidden);
    yield vector(`${prefix}per_layer_projection_norm.weight`, width);
  }
  if (!shape.tiedEmbeddings) {
    yield matrix(heads.find((each) => found.has(`${each}.weight`)) ?? 'lm_head', vocab, hidden);
  }
  if (shape.labels > 0 && shape.bert === null) yield vector(classifierHead, shape.labels, hidden);
  // GGUF files hold what the frequencies of a scaled rotary embedding are divided by.
  if (found.has('rope_freqs.weight')) yield vector('rope_freqs.weight', shape.rotaryDim / 2);
  for (const [i, kind] of shape.layerKinds.entries()) {
    const at = `${prefix}layers.${String(i)}.`;
    // Embeddings that are normalized are what the first layer takes.
    if (shape.bert === null && (i > 0 || !shape.embeddingNorm))
      yield vector(`${at}input_layernorm.weight`, hidden);
    yield* layer(at, kind, shape.feedForward[i] ?? 'dense', ofLayer(shape, i), found);
  }
}

function* bertTensors(
  prefix: string,
  { positions, types }: BertDimensions,
  { hidden, labels }: ModelShape,
): Generator<Expected> {
  yield matrix(`${prefix}embed_positions`, positions, hidden);
  yield matrix(`${prefix}embed_types`, types, hidden);
  yield vector(`${prefix}embed_norm.bias`, hidden);
  if (labels === 0) return;
  for (const [i, module] of encoderHead.entries()) {
    const outputs = i === 0 ? hidden : labels;
    yield vector(`${module}.weight`, outputs, hidden);
    yield vector(`${module}.bias`, outputs);
  }
}

/** Those of the layer for multi-token prediction: attention, with experts or without. */
export function* draftTensors(shape: ModelShape, found: Found): Generator<Expected> {
  const { hidden } = shape;
  yield matrix('mtp.fc', hidden, 2 * hidden);
  for (const name of ['pre_fc_norm_embedding', 'pre_fc_norm_hidden', 'norm']) {
    yield vector(`mtp.${name}.weight`, hidden);
  }
  const feedForward = found.has('mtp.layers.0.mlp.gate.weight') ? 'moe' : 'dense';
  yield vector('mtp.layers.0.input_layernorm.weight', hidden);
  yield* layer('mtp.layers.0.', 'full', feedForward, shape, found);
}

/** Those of an EAGLE-3 draft model: one layer that reads the embedding beside the hidden state. */
export function* eagle3Tensors(
  shape: ModelShape,
  { vocab, normBeforeFc }: Eagle3,
  found: Found,
): Generator<Expected> {
  const { hidden, ffn } = shape;
  const at = 'eagle3.layers.0.';
  // Without one it takes the model's.
  if (found.has('eagle3.embed_tokens.weight')) yield matrix('eagle3.embed_tokens', shape.vocab, hidden);
  yield matrix('eagle3.fusion', hidden, 3 * hidden);
  if (normBeforeFc) yield vector('eagle3.input_norm.weight', 3 * hidden);
  for (const name of ['input_layernorm', 'hidden_norm', 'post_attention_layernorm']) {
    yield vector(`${at}${name}.weight`, hidden);
  }
  yield* attention(`${at}self_attn.`, shape, 2 * hidden);
  yield* feedForward(`${at}mlp.`, ffn, hidden);
  if (shape.mlpBias) yield* feedForwardBiases(`${at}mlp.`, ffn, hidden);
  yield vector('eagle3.norm.weight', hidden);
  yield matrix('eagle3.lm_head', vocab, hidden);
}

/** But for the norm of its input. */
function* layer(
  at: string,
  kind: LayerKind,
  fed: FeedForwardKind,
  shape: ModelShape,
  found: Found,
): Generator<Expected> {
  const { hidden, gdn, moe, ffn, layerEmbeddings } = shape;
  yield vector(`${at}post_attention_layernorm.weight`, hidden);
  if (shape.bert !== null) {
    yield vector(`${at}post_attention_layernorm.bias`, hidden);
    yield vector(`${at}post_feedforward_layernorm.weight`, hidden);
    yield vector(`${at}post_feedforward_layernorm.bias`, hidden);
  }
  if (shape.postNorms) {
    yield vector(`${at}pre_feedforward_layernorm.weight`, hidden);
    yield vector(`${at}post_feedforward_layernorm.weight`, hidden);
  }
  if (shape.layerScalars) yield vector(`${at}layer_scalar`, 1);
  if (layerEmbeddings !== null) {
    yield matrix(`${at}per_layer_input_gate`, layerEmbeddings.width, hidden);
    yield matrix(`${at}per_layer_projection`, hidden, layerEmbeddings.width);
    yield vector(`${at}post_per_layer_input_norm.weight`, hidden);
  }
  if (kind === 'full' || gdn === null) yield* attention(`${at}self_attn.`, shape);
  else yield* gatedDelta(`${at}linear_attn.`, gdn, hidden, found);
  const mlp = `${at}mlp.`;
  if (fed === 'moe' && moe !== null) {
    yield* experts(mlp, moe, hidden, found);
    if (moe.ownNorms) yield* expertNorms(at, moe, hidden);
    return;
  }
  const gated = shape.bert === null;
  yield* feedForward(mlp, ffn, hidden, gated);
  if (shape.mlpBias) yield* feedForwardBiases(mlp, ffn, hidden, gated);
}

/** @param read width of what queries, keys and values are made of */
function* attention(
  at: string,
  shape: ModelShape & Partial<LayerShape>,
  read = shape.hidden,
): Generator<Expected> {
  const { hidden, headDim, kvHeads } = shape;
  const queries = shape.heads * headDim * (shape.outputGate ? 2 : 1);
  const hasKeys = shape.sharesKv !== true;
  const hasValues = hasKeys && shape.keysAreValues !== true;
  const inputs = [
    ['q_proj', queries],
    ...(hasKeys ? [['k_proj', kvHeads * headDim] as const] : []),
    ...(hasValues ? [['v_proj', kvHeads * headDim] as const] : []),
  ] as const;
  for (const [name, rows] of inputs) {
    yield matrix(`${at}${name}`, rows, read);
    if (shape.qkvBias) yield vector(`${at}${name}.bias`, rows);
  }
  yield matrix(`${at}o_proj`, hidden, shape.heads * headDim);
  if (shape.outputBias) yield vector(`${at}o_proj.bias`, hidden);
  if (shape.attentionSinks) yield vector(`${at}sinks`, shape.heads);
  if (!shape.qkNorm) return;
  yield vector(`${at}q_norm.weight`, headDim);
  if (hasKeys) yield vector(`${at}k_norm.weight`, headDim);
}

function* gatedDelta(at: string, gdn: GdnDimensions, hidden: number, found: Found): Generator<Expected> {
  const keys = gdn.kHeads * gdn.kDim;
  const values = gdn.vHeads * gdn.vDim;
  // GGUF files have the first of two interleaved matrices as two that are not.
  if (gdn.interleaved && !found.has(`${at}in_proj_qkv.weight`)) {
    yield matrix(`${at}in_proj_qkvz`, 2 * keys + 2 * values, hidden);
  } else {
    yield matrix(`${at}in_proj_qkv`, 2 * keys + values, hidden);
    yield matrix(`${at}in_proj_z`, values, hidden);
  }
  if (gdn.interleaved) {
    yield matrix(`${at}in_proj_ba`, 2 * gdn.vHeads, hidden);
  } else {
    yield matrix(`${at}in_proj_b`, gdn.vHeads, hidden);
    yield matrix(`${at}in_proj_a`, gdn.vHeads, hidden);
  }
  yield vector(`${at}conv1d.weight`, 2 * keys + values, 1, gdn.convKernel);
  yield vector(`${at}A_log`, gdn.vHeads);
  yield vector(`${at}dt_bias`, gdn.vHeads);
  yield vector(`${at}norm.weight`, gdn.vDim);
  yield matrix(`${at}out_proj`, hidden, values);
}

function* feedForward(at: string, width: number, hidden: number, gated = true): Generator<Expected> {
  if (gated) yield matrix(`${at}gate_proj`, width, hidden);
  yield matrix(`${at}up_proj`, width, hidden);
  yield matrix(`${at}down_proj`, hidden, width);
}

function* feedForwardBiases(at: string, width: number, hidden: number, gated = true): Generator<Expected> {
  if (gated) yield vector(`${at}gate_proj.bias`, width);
  yield vector(`${at}up_proj.bias`, width);
  yield vector(`${at}down_proj.bias`, hidden);
}

/** One by one; or all in one tensor, gate over up; or, as GGUF files have them, gate and up each in one. */
function* experts(
  at: string,
  { experts: count, ffn, sharedFfn, sharedGate, sigmoid, biases }: MoeDimensions,
  hidden: number,
  found: Found,
): Generator<Expected> {
  yield matrix(`${at}gate`, count, hidden);
  if (sigmoid !== null) yield vector(`${at}gate.e_score_correction_bias`, count);
  const stack = (name: string, rows: number, cols: number): Expected => ({
    ...{ name: `${at}experts.${name}`, sides: [count, rows, cols], isMatrix: true },
  });
  const isSplit = found.has(`${at}experts.gate_proj`);
  const parts = isSplit ? { gate_proj: ffn, up_proj: ffn } : { gate_up_proj: 2 * ffn };
  const stacks = Object.entries({ ...parts, down_proj: hidden });
  if (biases) {
    yield vector(`${at}gate.bias`, count);
    for (const [name, rows] of stacks) yield vector(`${at}experts.${name}.bias`, count, rows);
  }
  if (biases || isSplit || found.has(`${at}experts.gate_up_proj`)) {
    for (const [name, rows] of stacks) yield stack(name, rows, name === 'down_proj' ? ffn : hidden);
  } else {
    for (let e = 0; e < count; e++) yield* feedForward(`${at}experts.${String(e)}.`, ffn, hidden);
  }
  if (sharedFfn === 0) return;
  yield* feedForward(`${at}shared_expert.`, sharedFfn, hidden);
  if (sharedGate) yield matrix(`${at}shared_expert_gate`, 1, hidden);
}

/** Router, experts and the expert that every row runs have norms of their own. */
function* expertNorms(at: string, { experts: count }: MoeDimensions, hidden: number): Generator<Expected> {
  yield vector(`${at}router.scale`, hidden);
  yield vector(`${at}router.per_expert_scale`, count);
  for (const name of [
    'pre_feedforward_layernorm_2',
    'post_feedforward_layernorm_1',
    'post_feedforward_layernorm_2',
  ])
    yield vector(`${at}${name}.weight`, hidden);
}

function matrix(module: string, rows: number, cols: number): Expected {
  return { name: `${module}.weight`, sides: [rows, cols], isMatrix: true };
}

function vector(name: string, ...sides: number[]): Expected {
  return { name, sides, isMatrix: false };
}
