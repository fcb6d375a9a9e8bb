// The fields of the Open Inference Protocol's inference: one tensor of texts, and what is asked about them in the fields of
// :predict. https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/inference_rest.md

import { text } from '../body/field-schemas.js';

/** Tensors by their names in the model's metadata. */
export const tensors = { input: 'text_input', output: 'text_output', reasoning: 'reasoning' } as const;

export type OutputName = typeof tensors.output | typeof tensors.reasoning;

/** As many as `instances` of :predict. */
export const maxTexts = 256;

/** What it says of a tensor's texts: how MLServer's clients name them. */
const contentType = { content_type: { enum: ['str'] } } as const;

export const inferFields = {
  id: text,
  // KServe's SDK says it again: the path has it too.
  model_name: text,
  inputs: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: {
      type: 'object',
      required: ['name', 'shape', 'datatype', 'data'],
      additionalProperties: false,
      properties: {
        name: text,
        shape: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'integer', minimum: 1 } },
        datatype: { const: 'BYTES' },
        parameters: { type: 'object', additionalProperties: false, properties: contentType },
        data: { type: 'array', minItems: 1, maxItems: maxTexts, items: text },
      },
    },
  },
  // Whether outputs are written behind the JSON, where they do not say themselves.
  parameters: { type: 'object', properties: { binary_data_output: { type: ['boolean', 'null'] } } },
  outputs: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: {
        name: { enum: [tensors.output, tensors.reasoning] },
        parameters: {
          type: 'object',
          additionalProperties: false,
          properties: { ...contentType, binary_data: { type: ['boolean', 'null'] } },
        },
      },
    },
  },
} as const;
