// The fields of vLLM's derender routes: what its tokens-in, tokens-out engine answered (/inference/v1/generate), and the
// request that this is the answer to. Members of an answer that are not listed are left out, as vLLM leaves them out.

import { idList, is, maxTokens, never, nullableText, tokenId } from '../body/field-schemas.js';
import type { JsonSchema } from '../body/field-table.js';

/** As many answers as a request may ask for. */
const maxResponses = 256;
const maxChoices = 128;
/** The engine's alternatives, and before them the token itself. */
const maxTop = 21;

const tokens = { type: 'integer', minimum: 0, maximum: 2147483647 } as const;
const nullableObject = { type: ['object', 'null'] } as const;
const nullableIds = { type: ['array', 'null'], items: tokenId, maxItems: maxTokens } as const;

/** Older versions have the id in the text, `token_id:5`. */
const scored = {
  token_id: tokenId,
  token: { type: 'string', pattern: '^token_id:\\d{1,10}$' },
  logprob: { type: 'number' },
} as const;

const logprobs = {
  type: ['object', 'null'],
  properties: {
    content: {
      type: ['array', 'null'],
      maxItems: maxTokens,
      items: {
        type: 'object',
        required: ['logprob'],
        properties: {
          ...scored,
          top_logprobs: {
            type: ['array', 'null'],
            maxItems: maxTop,
            items: { type: 'object', required: ['logprob'], properties: scored },
          },
        },
      },
    },
  },
} as const;

const generateResponse = {
  type: 'object',
  required: ['choices'],
  properties: {
    request_id: nullableText,
    output_mode: {
      enum: ['tokens', null],
      description: 'what has a text was detokenized by the engine: send answers of output_mode tokens',
    },
    choices: {
      type: 'array',
      minItems: 1,
      maxItems: maxChoices,
      items: {
        type: 'object',
        required: ['index', 'token_ids'],
        properties: {
          index: { type: 'integer', minimum: 0, maximum: maxChoices - 1 },
          token_ids: { ...idList, maxItems: maxTokens },
          finish_reason: { enum: ['stop', 'length', 'repetition', null] },
          logprobs,
        },
      },
    },
    prompt_token_ids: nullableIds,
    prompt_logprobs: { type: ['array', 'null'], items: nullableObject, maxItems: maxTokens },
    usage: {
      type: ['object', 'null'],
      properties: { prompt_tokens: { ...tokens, type: ['integer', 'null'] } },
    },
    kv_transfer_params: nullableObject,
    ec_transfer_params: nullableObject,
    metrics: nullableObject,
  },
} as const;

/** Fields that both routes have, by what they are about. */
export const derenderFields = {
  derenderChat: {
    generate_response: generateResponse,
    prompt_tokens: tokens,
    prompt_token_ids: { ...idList, minItems: 0, maxItems: maxTokens },
    chat_request: { type: 'object' },
  },
  derenderCompletions: {
    generate_responses: { type: 'array', minItems: 1, maxItems: maxResponses, items: generateResponse },
    prompt_tokens: { type: 'array', maxItems: maxResponses, items: tokens },
    prompt_token_ids: { type: 'array', maxItems: maxResponses, items: nullableIds },
    completion_request: { type: 'object' },
  },
} as const;

/** A chunk's text depends on all chunks before it. */
const refusedDerenderFields: Readonly<Record<string, JsonSchema>> = {
  stream: {
    ...is(false),
    description: 'send the token ids of all chunks as those of one answer',
  },
  generate_chunk: never,
  stream_state: never,
};

export const refusedOnDerender = {
  derenderChat: refusedDerenderFields,
  derenderCompletions: refusedDerenderFields,
} as const;
