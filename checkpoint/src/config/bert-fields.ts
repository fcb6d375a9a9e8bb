// What config.json says of a model that is built as BERT is: learned positions, norms with biases behind what they norm, and a
// feed-forward without a gate.

import type { Architecture } from './architecture.js';
import { type FieldReader, quote, unsupported } from './config-fields.js';
import type { ModelShape } from './model-shape.js';

type BertShape = Pick<
  ModelShape,
  | 'bert'
  | 'normEpsilon'
  | 'layerNorm'
  | 'embeddingNorm'
  | 'activation'
  | 'rotaryDim'
  | 'scaling'
  | 'maxPositionEmbeddings'
>;

/** @throws FailureError UnsupportedArchitecture */
export function readBert(fields: FieldReader, { name, bert }: Architecture): BertShape {
  const kind = fields.value('position_embedding_type') ?? 'absolute';
  if (kind !== 'absolute')
    throw unsupported(`position_embedding_type ${quote(kind)} is not supported for ${name}, only absolute`);
  for (const field of ['is_decoder', 'add_cross_attention'])
    if (fields.flag(field, false)) throw unsupported(`${field} is true, which is not supported for ${name}`);
  const positions = fields.positive('max_position_embeddings');
  const padding = fields.number('pad_token_id') ?? 0;
  const firstPosition = bert?.padded === true ? padding + 1 : 0;
  fields.check(
    Number.isInteger(padding) && padding >= 0 && firstPosition < positions,
    `pad_token_id ${String(padding)} leaves no positions of ${String(positions)} (max_position_embeddings)`,
  );
  return {
    bert: { positions, firstPosition, types: fields.positive('type_vocab_size') },
    normEpsilon: fields.positiveNumber('layer_norm_eps') ?? 1e-12,
    layerNorm: true,
    embeddingNorm: true,
    activation: 'erfGelu',
    rotaryDim: 0,
    scaling: { type: 'none' },
    maxPositionEmbeddings: positions - firstPosition,
  };
}
