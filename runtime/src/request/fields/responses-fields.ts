// The fields of OpenAI's Responses, as far as they are not those of other routes: the schemas of what is honoured, and of
// values of the others that ask for nothing.

import { boolean, is, needs, never, nullableBoolean, nullableText, text } from '../body/field-schemas.js';
import { unreportedDetails } from './answer-details.js';
import { input } from './responses-input.js';
import { toolChoice, tools } from './responses-tools.js';
import { verbosities } from './scheduling.js';
import { servedAnyway } from './served-anyway.js';
import { reasoningEfforts } from './thinking.js';

/** Characters. */
export const maxResponseId = 256;

const storedId = { type: 'string', minLength: 1, maxLength: maxResponseId } as const;

/** What `include` may ask for. */
export const sealedReasoning = 'reasoning.encrypted_content';
export const textLogprobs = 'message.output_text.logprobs';

export const responsesFields = {
  input,
  instructions: text,
  // Where the server stores responses; without a store they are refused.
  previous_response_id: storedId,
  conversation: {
    description: 'the id of a conversation, or {"id": ID}',
    anyOf: [
      storedId,
      { type: 'object', required: ['id'], additionalProperties: false, properties: { id: storedId } },
    ],
  },
  background: boolean,
  max_output_tokens: { type: 'integer', minimum: 1 },
  tools,
  tool_choice: toolChoice,
  // Of the provider's own tools, of which there are none here.
  max_tool_calls: { type: 'integer', minimum: 1 },
  include: { type: 'array', items: { enum: [sealedReasoning, textLogprobs] } },
  text: {
    type: 'object',
    additionalProperties: false,
    properties: {
      format: {
        type: ['object', 'null'],
        required: ['type'],
        properties: {
          type: { enum: ['text', 'json_object', 'json_schema'] },
          name: text,
          description: nullableText,
          schema: { type: 'object' },
          strict: nullableBoolean,
        },
        additionalProperties: false,
        allOf: [
          needs('json_schema', 'schema'),
          {
            if: { required: ['type'], properties: { type: { const: 'text' } } },
            then: { properties: { schema: { ...never, description: 'send it with type: json_schema' } } },
          },
        ],
      },
      verbosity: { enum: [...verbosities, null] },
    },
  },
  stream_options: {
    type: 'object',
    additionalProperties: false,
    properties: { include_obfuscation: nullableBoolean },
  },
  reasoning: {
    type: 'object',
    additionalProperties: false,
    properties: {
      effort: { enum: [...reasoningEfforts, null] },
      // The reasoning itself is returned, and no summary of it.
      summary: { enum: ['auto', 'detailed', null] },
      generate_summary: { enum: ['auto', 'detailed', null] },
      // What the model sees of earlier reasoning, its chat template says.
      context: { enum: ['auto', null] },
    },
  },
} as const;

export const refusedResponsesFields = {
  prompt: never,
  context_management: { type: 'array', maxItems: 0 },
  moderation: never,
  access_programs: is({}, { cyber: 'standard' }),
  // There are no images to compress.
  image: is({}, { context_compression: 'auto' }, { context_compression: 'disabled' }),
  background_options: is({}, { completion_window: 'soonest' }),
  enable_response_messages: { enum: [false] },
  prompt_logprobs: unreportedDetails.prompt_logprobs,
  ...servedAnyway,
} as const;
