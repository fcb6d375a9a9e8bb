// Chat completions, as llama.cpp's tests ask for them.

import { chat, eachScored, hello, message, reply, scored, streamed } from './chat-request.js';
import {
  absent,
  casesOf,
  contains,
  count,
  long,
  matches,
  missing,
  ok,
  post,
  refused,
  text,
  type SentRequest,
  type SuiteCase,
  type View,
} from './suite-case.js';

const book = [
  { role: 'system', content: 'Book' },
  { role: 'user', content: 'What is the best book' },
];
const oneId = (value: unknown): boolean => new Set((value as View[]).map(({ id }) => id)).size === 1;

const llama = casesOf('llama.cpp', 'chat_completion');
const usage = { 'usage.completion_tokens': 4, 'usage.prompt_tokens': count };
const format = (response_format: unknown): SentRequest => chat({ response_format, max_tokens: 10 });

export const llamaChatCases: readonly SuiteCase[] = [
  llama.same(
    'system and user messages',
    chat({ messages: book }),
    ok({
      id: contains('cmpl'),
      [`${message}.role`]: 'assistant',
      text,
      'choices.0.finish_reason': 'length',
      ...usage,
    }),
  ),
  llama.same(
    'content in parts',
    [
      chat({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is' },
              { type: 'text', text: ' it' },
            ],
          },
        ],
      }),
      chat({ messages: [{ role: 'user', content: 'What is it' }] }),
    ],
    ok(),
    { alike: ['text', 'usage.prompt_tokens'] },
  ),
  llama.same('`model: null`', chat({ model: null }), ok({ model: 'demo', text })),
  llama.same(
    'a stream with its usage at the end',
    chat({ ...streamed, stream_options: { include_usage: true } }),
    ok({
      'first.choices.0.delta.role': 'assistant',
      events: oneId,
      ended: 1,
      text,
      'last.choices': [],
      'last.usage.completion_tokens': 4,
      done: true,
    }),
  ),
  llama.differs(
    'how a stream begins and ends',
    chat({ ...streamed }),
    ok({
      'first.choices.0.delta.content': '',
      'last.choices.0.delta.content': text,
      'last.choices.0.finish_reason': 'length',
    }),
    '`content: null` beside the role, and a last chunk without content',
    'as OpenAI’s and vLLM’s: the role has an empty content, and the last piece comes with the reason of its end',
  ),
  llama.differs(
    '`system_fingerprint`',
    chat(),
    ok({ system_fingerprint: matches(/^llmservice-/) }),
    'its build, `b…`',
    'it names this server and its version',
  ),
  llama.differs(
    'a model of another name',
    chat({ model: 'gpt-3.5-turbo-instruct' }),
    absent('does not exist'),
    'an answer, whatever the name is',
    'as OpenAI’s and vLLM’s: a client that means another model learns it',
  ),
  llama.differs(
    'the route without `/v1`',
    post('/chat/completions', { messages: hello }),
    absent('/v1/chat/completions'),
    'an answer',
    'a route has one path; the error names it',
  ),
  llama.same(
    '`json_object` with a schema',
    format({ type: 'json_object', schema: { const: '42' } }),
    ok({ text: '"42"' }),
  ),
  llama.differs(
    '`items` as a list of schemas',
    format({ type: 'json_object', schema: { items: [{ type: 'integer' }] } }),
    refused('response_format.schema.items'),
    'a tuple',
    'that is draft 4; JSON Schema writes it as `prefixItems` today, which is taken',
  ),
  llama.same(
    '`json_schema`',
    format({ type: 'json_schema', json_schema: { schema: { const: 'foooooo' } } }),
    ok({ text: '"foooooo"' }),
  ),
  llama.same('`json_object`', format({ type: 'json_object' }), ok({ text: matches(/^\s*\{/) })),
  ...[
    { type: 'sound' },
    { type: 'json_object', schema: 123 },
    { type: 'json_object', schema: { type: 123 } },
  ].map((each) =>
    llama.same(`a format that is none: ${JSON.stringify(each)}`, format(each), {
      status: 400,
      has: { 'error.param': matches(/^response_format\.(type|schema)/) },
    }),
  ),
  llama.same(
    'a schema of a type that is none',
    format({ type: 'json_object', schema: { type: 'hiccup' } }),
    refused('response_format.schema.type', 'hiccup'),
  ),
  llama.differs(
    '`json_schema` as a field',
    chat({ json_schema: { const: '42' } }),
    refused('json_schema'),
    'structured output',
    '`response_format`, `structured_outputs.json` or `guided_json` have it',
  ),
  llama.differs(
    '`grammar`',
    chat({ grammar: 'root ::= "a"{5,5}' }),
    refused('grammar'),
    'structured output',
    '`structured_outputs.grammar`, `guided_grammar` or `ebnf` have it',
  ),
  llama.same('a grammar', chat({ ebnf: 'root ::= "a"{5,5}', max_tokens: 9 }), ok({ text: 'aaaaa' })),
  ...[null, 'string', [123], [{}], [{ role: 123 }], [{ role: 'system', content: 123 }], [...hello, {}]].map(
    (messages) =>
      llama.same(`messages that are none: ${JSON.stringify(messages)}`, chat({ messages }), {
        status: 400,
        has: { 'error.param': matches(/^messages/), 'error.message': text },
      }),
  ),
  llama.differs(
    'two messages of the assistant at the end',
    chat({ messages: [...reply('test'), { role: 'assistant', content: 'test' }] }),
    ok({ text }),
    '400 or 500',
    'as vLLM’s: the chat template decides',
  ),
  llama.differs(
    'a conversation that ends with the assistant',
    chat({ messages: reply('Whill') }),
    ok({ text: matches(/^(?!Whill)/) }),
    'an answer that continues it',
    'as OpenAI’s and vLLM’s: a new answer begins, unless `continue_final_message` asks for more of this one',
  ),
  ...[
    'Whill',
    [
      { type: 'text', text: 'Wh' },
      { type: 'text', text: 'ill' },
    ],
  ].map((content) =>
    llama.same(
      `a prompt that ends with the assistant’s ${JSON.stringify(content)}`,
      post('/apply-template', {
        messages: reply(content),
        continue_final_message: true,
        add_generation_prompt: false,
      }),
      ok({ prompt: matches(/Whill$/) }),
    ),
  ),
  llama.differs(
    '`timings_per_token: true`',
    chat({ ...streamed, timings_per_token: true }),
    refused('timings_per_token'),
    '`timings` in the last chunk',
    '`/metrics`, the log and traces have the times',
  ),
  llama.same(
    '`timings_per_token: false`',
    chat({ timings_per_token: false }),
    ok({ text, timings: missing }),
  ),
  llama.differs(
    '`return_progress: true`',
    chat({ ...streamed, return_progress: true }),
    refused('return_progress'),
    'chunks with `prompt_progress`',
    'a prompt is read in steps that it shares with other requests, whose times say nothing of it',
  ),
  llama.same('`return_progress: false`', chat({ return_progress: false }), ok({ text })),
  llama.same(
    'log probabilities',
    chat({ logprobs: true, top_logprobs: 10 }),
    ok({ 'choices.0.logprobs.content': scored(10), text }),
  ),
  llama.same(
    'log probabilities on a stream',
    chat({ ...streamed, logprobs: true, top_logprobs: 10 }),
    ok({ events: eachScored, text }),
  ),
  llama.same(
    '`logit_bias` of what would be said',
    [
      chat({ max_tokens: 1, return_token_ids: true }),
      ([first]) => {
        const [choice] = first!['choices'] as { token_ids: [number] }[];
        return chat({ max_tokens: 1, logit_bias: { [choice!.token_ids[0]]: -100 } });
      },
    ],
    ok({ text }),
    { unlike: ['text'] },
  ),
  ...[{}, streamed].map((fields) =>
    llama.differs(
      `a prompt beyond the context${'stream' in fields ? ', on a stream' : ''}`,
      chat({ ...fields, messages: Array.from({ length: 100 }, () => book).flat() }),
      {
        status: 400,
        has: {
          'error.code': 'context_length_exceeded',
          'error.message': matches(/\d+ tokens.* 1024 tokens/),
        },
      },
      '400 of the type `exceed_context_size_error`, with both numbers',
      'OpenAI’s code, by which clients shorten the conversation; the message has both numbers',
    ),
  ),
  llama.same(
    'two choices',
    chat({ n: 2 }),
    ok({ choices: long(2), 'choices.1.index': 1, 'choices.1.message.content': text }),
  ),
  casesOf('llama.cpp', 'compat_anthropic').same(
    'a chat beside messages',
    chat(),
    ok({ object: 'chat.completion', ...usage }),
  ),
];
