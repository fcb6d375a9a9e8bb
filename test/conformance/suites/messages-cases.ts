// Anthropic's Messages, as llama.cpp's tests ask for them.

import { hello } from './chat-request.js';
import {
  absent,
  casesOf,
  count,
  jsonWith,
  missing,
  ok,
  post,
  refused,
  text,
  type SentRequest,
  type SuiteCase,
  type View,
} from './suite-case.js';

const ask = (fields: object = {}): SentRequest =>
  post('/v1/messages', { model: 'demo', max_tokens: 8, messages: hello, temperature: 0, ...fields });
const counted = (fields: object = {}): SentRequest =>
  post('/v1/messages/count_tokens', { model: 'demo', messages: hello, ...fields });

const tools = [
  {
    name: 'get_weather',
    description: 'The weather in a place',
    input_schema: {
      type: 'object',
      properties: { location: { type: 'string', maxLength: 8 } },
      required: ['location'],
      additionalProperties: false,
    },
  },
];
const used = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'test123', name: 'get_weather', input: { location: 'Paris' } }],
};
const results = (...content: readonly object[]): SentRequest =>
  ask({ messages: [...hello, used, { role: 'user', content }] });
const result = (more: object = {}): object => ({
  type: 'tool_result',
  tool_use_id: 'test123',
  content: 'Sunny, 25 °C',
  ...more,
});
const forced = { tools, tool_choice: { type: 'any', disable_parallel_tool_use: true }, max_tokens: 400 };

interface Block extends View {
  readonly type: string;
  readonly index: number;
  readonly delta?: { readonly partial_json?: string };
}
const blocksEnd = (value: unknown): boolean => {
  const of = (wanted: string): number[] =>
    (value as readonly Block[]).filter(({ type }) => type === wanted).map(({ index }) => index);
  const starts = of('content_block_start');
  return (
    starts.every((each, index) => each === index) &&
    JSON.stringify(starts) === JSON.stringify(of('content_block_stop'))
  );
};
const argumentsCome = (value: unknown): boolean =>
  jsonWith('location')((value as readonly Block[]).map(({ delta }) => delta?.partial_json ?? '').join(''));

const llama = casesOf('llama.cpp', 'compat_anthropic');
const message = { type: 'message', role: 'assistant', 'content.0.type': 'text', text };

export const messagesCases: readonly SuiteCase[] = [
  llama.same(
    'a message',
    ask(),
    ok({
      ...message,
      'usage.input_tokens': count,
      'usage.output_tokens': count,
      'usage.cache_read_input_tokens': (value: unknown) => Number.isInteger(value),
      timings: missing,
    }),
  ),
  llama.differs(
    'a model of another name',
    ask({ model: 'test' }),
    absent('does not exist'),
    'an answer, whatever the name is',
    'as Anthropic’s: a client that means another model learns it',
  ),
  llama.same('`system`', ask({ system: 'You are a helpful assistant.' }), ok(message)),
  llama.same(
    'content in blocks',
    ask({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is' },
            { type: 'text', text: ' it?' },
          ],
        },
      ],
    }),
    ok(message),
  ),
  llama.same(
    'more turns',
    ask({ messages: [...hello, { role: 'assistant', content: 'Hi there!' }, ...hello] }),
    ok(message),
  ),
  llama.same(
    'a stream',
    [ask(), ask({ stream: true })],
    ok({
      types: [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ],
      'first.message.content': [],
      'first.message.usage.input_tokens': count,
      'events.1.content_block.type': 'text',
      'events.1.index': 0,
      'last.timings': missing,
      events: blocksEnd,
    }),
    { alike: ['text'] },
  ),
  llama.same('a count', counted(), ok({ input_tokens: count, output_tokens: missing })),
  llama.same(
    'a count with `system`',
    [counted(), counted({ system: 'Be brief.' })],
    ok({ input_tokens: count }),
    { unlike: ['input_tokens'] },
  ),
  llama.same('tools', ask({ tools }), ok({ type: 'message' })),
  llama.same(
    'a call',
    ask(forced),
    ok({
      stop_reason: 'tool_use',
      'content.0.name': 'get_weather',
      'content.0.input.location': (value: unknown) => typeof value === 'string',
    }),
  ),
  llama.same(
    'a call on a stream',
    ask({ ...forced, stream: true }),
    ok({
      'events.1.content_block.type': 'tool_use',
      'events.1.content_block.name': 'get_weather',
      events: argumentsCome,
    }),
  ),
  llama.same('the blocks of a call on a stream', ask({ ...forced, stream: true }), ok({ events: blocksEnd })),
  llama.same('a result', results(result()), ok(message)),
  llama.same(
    'a result behind a text',
    results({ type: 'text', text: 'Here are the results:' }, result()),
    ok(message),
  ),
  llama.same('a result that is an error', results(result({ is_error: true })), ok(message)),
  llama.differs(
    'an image',
    ask({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
      ],
    }),
    refused('messages.0.content.0', 'is an image, and the model reads text only'),
    '500 with "image input is not supported", or an answer of a model that sees',
    'it is a mistake of the request: 400',
  ),
  llama.same(
    '`stop_sequences`',
    ask({ stop_sequences: ['e'], max_tokens: 30 }),
    ok({ type: 'message', stop_reason: 'stop_sequence', stop_sequence: 'e' }),
  ),
  ...[{ temperature: 0.5 }, { top_p: 0.9 }, { top_k: 40 }, { metadata: { user_id: 'test_user_123' } }].map(
    (fields) => llama.same(JSON.stringify(fields), ask(fields), ok(message)),
  ),
  llama.same('no messages', ask({ messages: null }), refused('messages')),
  llama.differs(
    'an empty list of messages',
    ask({ messages: [] }),
    refused('messages'),
    'an answer',
    'as Anthropic’s',
  ),
  llama.differs(
    'a thinking budget of 50 tokens',
    ask({ thinking: { type: 'enabled', budget_tokens: 50 } }),
    refused('thinking.budget_tokens', '>= 1024'),
    'an answer',
    'as Anthropic’s: at least 1,024',
  ),
  llama.same(
    'thinking',
    ask({ thinking: { type: 'enabled', budget_tokens: 1024 } }),
    ok({ type: 'message' }),
  ),
];
