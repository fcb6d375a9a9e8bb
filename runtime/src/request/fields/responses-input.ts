// The input of OpenAI's Responses: a text, or the items of a conversation.

import { needs, never, nullableText, text } from '../body/field-schemas.js';
import type { Conditional } from '../body/field-table.js';
import { sealPrefix } from '../body/sealed-reasoning.js';
import type { RawMessage } from './messages.js';

export type RawText = string | readonly ({ readonly text: string } | { readonly refusal: string })[];

export type RawItem =
  | { readonly type?: 'message'; readonly role: RawMessage['role']; readonly content: RawText | null }
  | {
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string | null;
      readonly arguments: string;
    }
  | {
      readonly type: 'custom_tool_call';
      readonly call_id: string;
      readonly name: string;
      readonly input: string;
    }
  | {
      readonly type: 'function_call_output' | 'custom_tool_call_output';
      readonly call_id: string;
      readonly output: RawText;
    }
  | RawReasoning;

export interface RawReasoning {
  readonly type: 'reasoning';
  readonly content?: RawText | null;
  readonly encrypted_content?: string | null;
}

const listOrNull = { type: ['array', 'null'] } as const;

const parts = {
  type: ['string', 'array'],
  items: {
    type: 'object',
    required: ['type'],
    properties: {
      type: { enum: ['input_text', 'output_text', 'reasoning_text', 'refusal'] },
      text,
      refusal: text,
    },
    if: { required: ['type'], properties: { type: { const: 'refusal' } } },
    then: { required: ['refusal'] },
    else: { required: ['text'] },
  },
} as const;

const inFull = 'send the reasoning itself as content';
/** LangChain makes such a summary where an answer had none. */
const saysNothing = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 0, description: inFull } },
} as const;

export const unstored =
  'nothing is stored here: the server was started without --stored-responses-bytes (server.storedResponses); send the conversation itself as input';
const inTheRequest = 'send reasoning and text with the request';

const needsNamed = (type: string, ...required: string[]) => ({
  ...needs(type),
  then: { required: ['name', ...required], properties: { name: text } },
});

/** @param reference why it cannot be a reference to another item */
const itemSchema = (reference: string) => ({
  type: 'object',
  properties: {
    type: {
      enum: [
        'message',
        'function_call',
        'function_call_output',
        'custom_tool_call',
        'custom_tool_call_output',
        'reasoning',
      ],
    },
    role: { enum: ['user', 'assistant', 'system', 'developer'] },
    content: { ...parts, type: ['string', 'array', 'null'] },
    call_id: text,
    // Of a result it may be null.
    name: nullableText,
    namespace: nullableText,
    arguments: text,
    input: text,
    output: parts,
    summary: listOrNull,
    encrypted_content: { ...nullableText, pattern: `^${sealPrefix}`, description: inFull },
  },
  allOf: [
    // The type of a message may stay away.
    { if: { not: { required: ['type'] } }, then: { required: ['role', 'content'] } },
    needs('message', 'role', 'content'),
    needsNamed('function_call', 'call_id', 'arguments'),
    needs('function_call_output', 'call_id', 'output'),
    needsNamed('custom_tool_call', 'call_id', 'input'),
    needs('custom_tool_call_output', 'call_id', 'output'),
    {
      if: { required: ['type'], properties: { type: { const: 'item_reference' } } },
      then: { properties: { type: { ...never, description: reference } } },
    },
    {
      if: { required: ['type'], properties: { type: { const: 'configuration_update' } } },
      then: { properties: { type: { ...never, description: inTheRequest } } },
    },
    {
      if: { properties: { content: { type: ['string', 'array', 'null'], maxItems: 0, maxLength: 0 } } },
      then: { properties: { summary: { ...listOrNull, items: saysNothing } } },
    },
  ],
});

/** Of a whole conversation: those that are stored count too. */
export const maxItems = 10_000;

/** That a client may add to a stored conversation at once, as OpenAI has it. */
const maxAdded = 20;

export const items: Conditional<readonly RawItem[]> = {
  type: 'array',
  maxItems: maxAdded,
  items: itemSchema('send the item itself'),
};

export const input: Conditional<string | readonly RawItem[]> = {
  type: ['string', 'array'],
  minItems: 1,
  maxItems,
  items: itemSchema(unstored),
};
