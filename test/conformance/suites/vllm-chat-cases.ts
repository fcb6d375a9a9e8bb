// Chat completions, as the main file of vLLM's tests of them asks.

import { chat, hello, reply, scored, streamed } from './chat-request.js';
import {
  absent,
  casesOf,
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

const noUsage = (value: unknown): boolean => (value as View[]).every(({ usage }) => (usage ?? null) === null);
const counts = (value: unknown): boolean => {
  const given = (value as { usage: { completion_tokens: number } }[]).map(
    ({ usage }) => usage.completion_tokens,
  );
  return given.every((each, index) => index === 0 || each >= given[index - 1]!);
};
const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);

const vllm = casesOf('vLLM', 'chat_completion/test_chat');
const tooMany = { top_logprobs: 21, logprobs: true };
const structured = (structured_outputs: object, fields: object = {}): SentRequest =>
  chat({ structured_outputs, max_tokens: 16, ...fields });

export const vllmChatCases: readonly SuiteCase[] = [
  vllm.same('`logprobs: false`', chat({ logprobs: false }), ok({ 'choices.0.logprobs': null })),
  vllm.same(
    'no alternatives',
    chat({ logprobs: true, top_logprobs: 0 }),
    ok({ 'choices.0.logprobs.content': scored(0) }),
  ),
  vllm.same(
    'five alternatives',
    chat({ logprobs: true, top_logprobs: 5 }),
    ok({ 'choices.0.logprobs.content': scored(5) }),
  ),
  vllm.same('21 alternatives', chat(tooMany), refused('top_logprobs')),
  vllm.same('21 alternatives on a stream', chat({ ...tooMany, ...streamed }), refused('top_logprobs')),
  ...[0, 1].map((prompt_logprobs) =>
    vllm.same(
      `\`prompt_logprobs: ${String(prompt_logprobs)}\``,
      chat({ prompt_logprobs }),
      ok({ 'prompt_logprobs.1': (value: unknown) => value !== null }),
    ),
  ),
  vllm.same('`prompt_logprobs: -1`', chat({ prompt_logprobs: -1 }), refused('prompt_logprobs')),
  vllm.same('no `prompt_logprobs`', chat(), ok({ prompt_logprobs: missing })),
  vllm.same(
    'more turns',
    chat({ messages: [...reply('Hi.'), { role: 'user', content: 'in json' }] }),
    ok({ text }),
  ),
  vllm.same('a stream says what the whole answer does', [chat(), chat(streamed)], ok({ ended: 1 }), {
    alike: ['text'],
  }),
  vllm.same(
    'a stream without usage',
    chat({ ...streamed, stream_options: { include_usage: false } }),
    ok({ events: noUsage }),
  ),
  ...[{ include_usage: null }, { include_usage: true }].map((stream_options) =>
    vllm.same(
      `${JSON.stringify(stream_options)} without a stream`,
      chat({ stream_options }),
      refused('stream_options'),
    ),
  ),
  vllm.same(
    'usage in each chunk',
    chat({
      ...streamed,
      min_tokens: 4,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    }),
    ok({ events: counts, 'last.usage.completion_tokens': 4 }),
  ),
  vllm.same('one of some texts', structured({ choice: ['Rust', 'Ada'] }), ok({ text: oneOf('Rust', 'Ada') })),
  vllm.same(
    'one of some texts, with log probabilities',
    structured({ choice: ['Rust', 'Ada'] }, { logprobs: true, top_logprobs: 5 }),
    ok({ 'choices.0.logprobs.content': scored(5) }),
  ),
  vllm.same(
    'a regular expression',
    structured({ regex: '\\d{1,3}\\.\\d{1,3}' }),
    ok({ text: matches(/^\d{1,3}\.\d{1,3}$/) }),
  ),
  vllm.same(
    'a regular expression that is an object',
    structured({ regex: { '1': 'Python' } }),
    refused('structured_outputs.regex'),
  ),
  vllm.same('`type: text`', chat({ response_format: { type: 'text' } }), ok({ text })),
  vllm.same(
    'a member of a message that nobody knows',
    chat({ messages: [{ ...hello[0], extra_field: '0' }] }),
    ok({ text }),
  ),
  vllm.differs(
    'a role of one’s own',
    chat({ messages: [{ role: 'my-custom-role', content: 'x' }] }),
    refused('messages.0.role'),
    'what the chat template makes of it',
    'as OpenAI’s: most templates drop such a message without a word',
  ),
  ...[2 ** 63, -(2 ** 63) - 2048].map((seed) =>
    vllm.differs(
      `the seed ${String(seed)}`,
      chat({ seed }),
      ok({ text }),
      '400',
      'any whole number is a seed: those of more than 64 bits are folded',
    ),
  ),
  vllm.differs(
    '`/invocations`',
    post('/invocations', { messages: hello }),
    absent('/invocations'),
    'an answer',
    'it is SageMaker’s path; this server runs in Kubernetes',
  ),
  vllm.same(
    'three choices',
    chat({ n: 3, temperature: 0.7 }),
    ok({ choices: long(3), 'choices.2.index': 2 }),
  ),
  vllm.same('a seed for two choices', chat({ n: 2, seed: 42, temperature: 0.8 }), ok({ choices: long(2) })),
  vllm.same('two choices on a stream', chat({ n: 2, ...streamed }), ok({ ended: 2, text })),
];
