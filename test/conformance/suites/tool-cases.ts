// Calls of tools by chats and Responses, as llama.cpp's and vLLM's tests ask for them.

import { chat, hello } from './chat-request.js';
import { respond } from './responses-cases.js';
import {
  casesOf,
  contains,
  jsonWith,
  long,
  missing,
  ok,
  refused,
  text,
  type SuiteCase,
  type View,
} from './suite-case.js';

const parameters = {
  type: 'object',
  properties: { location: { type: 'string', maxLength: 8 } },
  required: ['location'],
  additionalProperties: false,
};
const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }];
const flatTools = [{ type: 'function', name: 'get_weather', parameters, strict: true }];
const named = (name: string): object => ({ type: 'function', function: { name } });
/** Enough for a call, with the spaces that the grammar allows. */
const call = { tools, max_tokens: 400 };
const forced = { tools: flatTools, max_output_tokens: 400 };

interface Delta {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { readonly function: { readonly arguments?: string } }[];
    };
  }[];
}
const joinedCall = (value: unknown): boolean => {
  const deltas = (value as readonly Delta[]).flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const given = deltas
    .flatMap((delta) => delta.tool_calls ?? [])
    .map((each) => each.function.arguments ?? '');
  return deltas.every(({ content = '' }) => content === '') && jsonWith('location')(given.join(''));
};

const calledIn = (path: string) => ({
  [`${path}.function.name`]: 'get_weather',
  [`${path}.function.arguments`]: jsonWith('location'),
});
const one = { 'choices.0.message.tool_calls': long(1), 'choices.0.message.content': null };

const llama = casesOf('llama.cpp', 'tool_call');
const calls = casesOf('vLLM', 'chat_completion/test_completion_with_function_calling');
const nulls = casesOf('vLLM', 'chat_completion/test_tool_choice_null');
const responses = casesOf('vLLM', 'responses/test_function_call');

const history = (given: string): object[] => [
  ...hello,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_6789', type: 'function', function: { name: 'get_weather', arguments: given } }],
  },
  { role: 'tool', name: 'get_weather', content: '0.55644242476', tool_call_id: 'call_6789' },
];

/** Each item and part that begins ends, the last first. */
const nested = (value: unknown): boolean => {
  const open: string[] = [];
  for (const { type } of value as readonly { readonly type: string }[]) {
    const [, name = ''] = /^response\.(\w+)\.(added|done)$/.exec(type) ?? [];
    if (type.endsWith('.added')) open.push(name);
    if (type.endsWith('output_item.done') || type.endsWith('content_part.done'))
      if (open.pop() !== name) return false;
  }
  return open.length === 0;
};
const sameArguments = (value: unknown): boolean => {
  const events = value as readonly { type: string; delta?: string; item?: { arguments?: string } }[];
  const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
  const done = events.find(
    ({ type, item }) => type === 'response.output_item.done' && item?.arguments !== undefined,
  );
  return (
    done?.item?.arguments === deltas.map(({ delta }) => delta).join('') &&
    jsonWith('location')(done.item.arguments)
  );
};

export const toolCases: readonly SuiteCase[] = [
  llama.same(
    'a required call',
    chat({ ...call, tool_choice: 'required', parallel_tool_calls: false }),
    ok({ ...one, ...calledIn('choices.0.message.tool_calls.0') }),
  ),
  llama.same(
    'a required call on a stream',
    chat({ ...call, tool_choice: 'required', parallel_tool_calls: false, stream: true }),
    ok({ events: joinedCall, 'last.choices.0.finish_reason': 'tool_calls' }),
  ),
  ...[
    { tools: null, tool_choice: null },
    { tools: [], tool_choice: null },
    { tools, tool_choice: 'none' },
  ].map((fields) =>
    llama.same(
      `no call: ${JSON.stringify({ ...fields, tools: fields.tools && fields.tools.length })} tools`,
      chat(fields),
      ok({ text, 'choices.0.message.tool_calls': missing }),
    ),
  ),
  llama.same(
    'the result of a call',
    chat({ tools, messages: history('{"location":"Bern"}') }),
    ok({ text, 'choices.0.message.tool_calls': missing }),
  ),
  calls.same(
    'the call that is named',
    chat({ ...call, tool_choice: named('get_weather') }),
    ok({ ...one, ...calledIn('choices.0.message.tool_calls.0') }),
  ),
  calls.same(
    'the call that is named, on a stream',
    chat({ ...call, tool_choice: named('get_weather'), stream: true }),
    ok({ events: joinedCall, ended: 1 }),
  ),
  ...['{}', ''].map((given) =>
    calls.same(
      `a call of earlier with the arguments "${given}"`,
      chat({ messages: history(given) }),
      ok({ text }),
    ),
  ),
  calls.same(
    'a choice without tools',
    chat({ tool_choice: named('dummy') }),
    refused('tool_choice', 'needs tools'),
  ),
  calls.same(
    'a choice that is none of the tools',
    chat({ tools, tool_choice: named('undefined') }),
    refused('tool_choice', 'none of the tools: get_weather'),
  ),
  calls.same('an empty choice', chat({ tools, tool_choice: {} }), refused('tool_choice')),
  ...['required', named('get_weather')].map((tool_choice) =>
    calls.same(
      `a call that one token cuts: ${JSON.stringify(tool_choice)}`,
      chat({ tools, tool_choice, max_tokens: 1 }),
      ok({ 'choices.0.finish_reason': 'length', 'choices.0.message.tool_calls': missing, text: '' }),
    ),
  ),
  nulls.same('`tool_choice: null` is as none', [chat({ tools }), chat({ tools, tool_choice: null })], ok(), {
    alike: ['text', 'usage.prompt_tokens'],
  }),
  nulls.same('`tool_choice: null` without tools', chat({ tool_choice: null }), ok({ text })),
  nulls.same(
    '`tool_choice: null` beside structured output',
    chat({ tools, tool_choice: null, structured_outputs: { json: { type: 'object' } } }),
    ok(),
  ),
  nulls.same(
    'a choice that is a word of nobody',
    chat({ tools, tool_choice: 'bogus' }),
    refused('tool_choice'),
  ),
  nulls.differs(
    '`tool_choice: auto` without tools',
    chat({ tool_choice: 'auto' }),
    ok({ text }),
    '400',
    'it asks for what happens anyway; `required` without tools is refused',
  ),
  responses.same(
    'a required call',
    respond({ ...forced, tool_choice: 'required', parallel_tool_calls: false }),
    ok({ status: 'completed', 'output.0.type': 'function_call', 'output.0.arguments': jsonWith('location') }),
  ),
  responses.same(
    'the call that is named',
    respond({ ...forced, tool_choice: { type: 'function', name: 'get_weather' } }),
    ok({ 'output.0.name': 'get_weather', 'output.0.call_id': contains('call_') }),
  ),
  responses.same(
    'its result',
    [
      respond({ ...forced, tool_choice: { type: 'function', name: 'get_weather' } }),
      ([first]) => {
        const [called] = first!['output'] as [View];
        const { call_id } = called;
        return respond({
          input: [
            { role: 'user', content: 'x' },
            called,
            { type: 'function_call_output', call_id, output: '20' },
          ],
        });
      },
    ],
    ok({ text }),
  ),
  responses.same(
    'a call that three tokens cut',
    respond({ tools: flatTools, tool_choice: 'required', max_output_tokens: 3 }),
    ok({ output: [], 'incomplete_details.reason': 'max_output_tokens' }),
  ),
  responses.same(
    'a required call on a stream',
    respond({ ...forced, tool_choice: 'required', parallel_tool_calls: false, stream: true }),
    ok({ events: sameArguments, 'last.type': 'response.completed' }),
  ),
  responses.same(
    'what begins on a stream ends',
    respond({ ...forced, tool_choice: 'required', parallel_tool_calls: false, stream: true }),
    ok({ events: nested }),
  ),
];
