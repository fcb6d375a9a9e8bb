// What config.json says of a model of the Gemma kind beyond what other decoders have.

import type { Architecture } from './architecture.js';
import { type FieldReader, quote, unsupported } from './config-fields.js';
import type { ModelShape } from './model-shape.js';
import { readWindowRope } from './rope.js';

type GemmaShape = Pick<
  ModelShape,
  'embeddingScale' | 'postNorms' | 'activation' | 'queryScalar' | 'scoreCap' | 'logitCap' | 'windowRope'
>;

/** Of any model: neutral values where the architecture has none of it. @throws FailureError UnsupportedArchitecture */
export function readGemma(
  outer: FieldReader,
  fields: FieldReader,
  { gemma }: Architecture,
  { hidden, headDim }: Pick<ModelShape, 'hidden' | 'headDim'>,
): GemmaShape {
  if (gemma === null) return { ...plain, queryScalar: headDim };
  return {
    embeddingScale: rounded(Math.sqrt(hidden), typeOf(outer) ?? typeOf(fields)),
    postNorms: true,
    activation: 'gelu',
    queryScalar: gemma.fourth ? 1 : (fields.positiveNumber('query_pre_attn_scalar') ?? headDim),
    scoreCap: gemma.cappedScores ? (fields.positiveNumber('attn_logit_softcapping') ?? 0) : 0,
    logitCap: fields.positiveNumber('final_logit_softcapping') ?? 0,
    windowRope: gemma.localRope ? readWindowRope(fields, headDim) : null,
  };
}

/**
 * Whether attention sees what lies behind a position too, as that of EmbeddingGemma does. Of Gemma 4, gemma4-fields.ts refuses it.
 * @param isMultimodal the fields are those of a text_config
 * @throws FailureError UnsupportedArchitecture
 */
export function isBidirectional(
  fields: FieldReader,
  { name, gemma }: Architecture,
  isMultimodal: boolean,
): boolean {
  if (gemma === null || gemma.fourth || !fields.flag('use_bidirectional_attention', false)) return false;
  // transformers gives images alone such attention in a multimodal model (Gemma3Model).
  if (gemma.localRope && !isMultimodal) return true;
  throw unsupported(
    `use_bidirectional_attention is true: of ${name}, ${isMultimodal ? 'with a text_config, ' : ''}only models that generate are supported`,
  );
}

/** What of a window that config.json counts to both sides together lies to one, the position itself included. */
export const halfWindow = (window: number): number => (window === 0 ? 0 : Math.floor(window / 2) + 1);

export const typeOf = (fields: FieldReader): unknown => fields.value('dtype') ?? fields.value('torch_dtype');

const plain = {
  embeddingScale: 1,
  postNorms: false,
  activation: 'silu',
  scoreCap: 0,
  logitCap: 0,
  windowRope: null,
} as const;

/** The one activation that the engine has for the architecture. @throws FailureError UnsupportedArchitecture */
export function checkActivation(fields: FieldReader, { gemma, modernBert, bert }: Architecture): void {
  const gates = gemma === null ? 'silu' : 'gelu_pytorch_tanh';
  const known = modernBert || bert !== null ? 'gelu' : gates;
  const field = known === 'silu' || bert !== null ? 'hidden_act' : 'hidden_activation';
  const activation = fields.value(field) ?? known;
  if (activation === known) return;
  throw unsupported(`${field} ${quote(activation)} is not supported, only ${known}`);
}

/** Bits of the mantissa, the implied one too. */
const precisions: Readonly<Record<string, number>> = { float32: 24, float16: 11 };

/** As the type of the checkpoint, which is bfloat16 where it does not say, holds a number above 0: to the nearest, of two the even. */
export function rounded(value: number, dtype: unknown): number {
  const bits = precisions[String(dtype)] ?? 8;
  const unit = 2 ** (Math.floor(Math.log2(value)) + 1 - bits);
  const count = Math.floor(value / unit);
  const rest = value / unit - count;
  const up = rest > 0.5 || (rest === 0.5 && count % 2 === 1);
  return (count + (up ? 1 : 0)) * unit;
}
