// Chat messages, and the one form of them that templates of text models understand: content is a string, the arguments of
// tool calls are objects.

import { inexact, parseExactly } from '../../tools/exact-json.js';
import { noteNames } from '../../tools/written-names.js';
import { never, nullableText, text } from '../body/field-schemas.js';
import { conversed, rendered, type Fields, type FieldTable, type ValueOf } from '../body/field-table.js';
import { JsonBounds } from '../body/json-bounds.js';
import { customCall, functionCallOf } from './custom-tools.js';

/** Of an assistant's message, as an answer had them. */
const toolCalls = {
  type: ['array', 'null'],
  items: {
    type: 'object',
    properties: {
      id: nullableText,
      type: { enum: ['function', 'custom'] },
      function: {
        type: 'object',
        required: ['name', 'arguments'],
        properties: { name: text, arguments: text },
      },
      custom: customCall,
    },
    // The type of a call of a function may stay away.
    if: { required: ['type'], properties: { type: { const: 'custom' } } },
    then: { required: ['custom'] },
    else: { required: ['function'] },
  },
} as const;

const message = {
  type: 'object',
  required: ['role'],
  properties: {
    role: { enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
    content: {
      description: 'a string or a list of text parts',
      anyOf: [
        { type: ['string', 'null'] },
        {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'text'],
            properties: { type: { const: 'text' }, text },
          },
        },
      ],
    },
    refusal: nullableText,
    tool_calls: toolCalls,
    tool_call_id: nullableText,
    function_call: { ...never, description: 'send tool_calls' },
    audio: { ...never, description: 'send its transcript as content' },
  },
} as const;

/** Characters. The largest of public checkpoints have 20,000. */
const maxTemplate = 65_536;

export const conversationFields = {
  messages: {
    routes: rendered,
    schema: { type: 'array', minItems: 1, maxItems: 10000, items: message },
  },
  chat_template: { routes: ['chat'], schema: { type: 'string', minLength: 1, maxLength: maxTemplate } },
  // Texts to answer from, for templates that show them.
  documents: { routes: conversed, schema: { type: 'array', maxItems: 1000, items: { type: 'object' } } },
} as const satisfies FieldTable;

export type RawMessage = ValueOf<typeof message>;
export type RawCall = NonNullable<RawMessage['tool_calls']>[number];

export type Message = Fields & {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly (Fields & { readonly id?: string | null })[];
  readonly tool_call_id?: string | null;
};

/** Characters of a conversation's calls whose numbers are kept: to read them so takes ten times as long. */
const maxExactChars = 262_144;
/** Characters of a conversation's calls that are read at all: more than a context of half a million tokens holds. */
const maxReadChars = 2 ** 21;

/**
 * Text parts are joined as they are; `developer` is OpenAI's newer word for `system`. Numbers of calls are as `parseExactly`
 * has them.
 */
export function readMessages(messages: readonly RawMessage[]): Message[] {
  const bounds = new JsonBounds();
  let exactChars = maxExactChars;
  let readChars = maxReadChars;
  const parse = (text: string): unknown => {
    readChars -= text.length;
    if (readChars < 0 || bounds.excessOf(Buffer.from(text)) !== null) return text;
    const isExact = text.length <= exactChars && inexact.test(text);
    if (isExact) exactChars -= text.length;
    const value = isExact ? parseExactly(text) : (JSON.parse(text) as unknown);
    noteNames(value, text);
    return value;
  };
  return messages.map(({ tool_calls, reasoning_content, ...message }) => {
    // Templates know the one name; clients send back either. Templates ask whether the keys are there at all.
    const reasoning = reasoning_content ?? message.reasoning ?? null;
    const calls = tool_calls ?? [];
    return {
      ...message,
      role: message.role === 'developer' ? 'system' : message.role,
      // OpenAI's models refuse with their content, which is null then.
      content: textOf(message.content ?? message.refusal),
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => readCall(call, parse)) }),
    };
  });
}

/** Arguments as an object; what a model wrote that is none, or has too much in it, stays text, which some templates take. */
function readCall(
  call: RawCall,
  parse: (text: string) => unknown,
): NonNullable<Message['tool_calls']>[number] {
  const { custom, function: given, ...others } = call;
  const called = custom === undefined ? given : functionCallOf(custom);
  if (called === undefined) throw new Error('a call is of a function or of a custom tool');
  const read = { ...called, arguments: argumentsOf(called.arguments, parse) };
  return { ...others, type: 'function', function: read };
}

function argumentsOf(text: string, parse: (text: string) => unknown): unknown {
  if (text.trim() === '') return {};
  try {
    const value = parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}

function textOf(content: RawMessage['content']): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text).join('');
}
