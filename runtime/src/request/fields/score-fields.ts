// What is judged: the documents of a query as Cohere, Jina and vLLM have them, vLLM's pairs of texts, and texts by themselves.

import { boolean, text } from '../body/field-schemas.js';
import { inputFields } from './prompt.js';

/** As many as an embeddings request has inputs. */
const maxTexts = 2048;

const documents = {
  type: 'array',
  minItems: 1,
  maxItems: maxTexts,
  items: {
    description: 'a text, or an object with a text',
    anyOf: [text, { type: 'object', required: ['text'], additionalProperties: false, properties: { text } }],
  },
} as const;

const texts = {
  description: 'a text, or a list of texts, which may not be empty',
  anyOf: [text, { type: 'array', minItems: 1, maxItems: maxTexts, items: text }],
} as const;

/** vLLM's: without activation, scores are the logits themselves. */
const activation = { use_activation: boolean } as const;
/** Not of OpenAI's kind: what the reranker is to look for, in the model's own prompt. */
const instruction = { instruction: text } as const;

export const rerankFields = {
  query: text,
  documents,
  // As in vLLM, 0 is all.
  top_n: { type: 'integer', minimum: 0, maximum: 2147483647 },
  return_documents: boolean,
  ...instruction,
  ...activation,
} as const;
export const scoreFields = { text_1: texts, text_2: texts, ...instruction, ...activation } as const;
export const classifyFields = { ...inputFields, add_special_tokens: boolean, ...activation } as const;
