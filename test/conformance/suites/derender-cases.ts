// Answers of another engine, as vLLM's tests have them turned into those of chats and completions.

import {
  absent,
  casesOf,
  count,
  ids,
  long,
  matches,
  ok,
  post,
  refused,
  text,
  type SentRequest,
  type SuiteCase,
} from './suite-case.js';

const chatPath = '/v1/chat/completions/derender';
const textPath = '/v1/completions/derender';
const file = casesOf('vLLM', 'scale_out/derender/test_derender');
const streams = casesOf('vLLM', 'scale_out/derender/test_derender_stream');

/** Of the demo's vocabulary: texts, and no markers. */
const token_ids = [72, 105, 73];
const generated = (choice: object = {}, more: object = {}): object => ({
  request_id: 'chatcmpl-test-id',
  choices: [{ index: 0, token_ids, finish_reason: 'stop', logprobs: null, ...choice }],
  prompt_logprobs: null,
  kv_transfer_params: null,
  ...more,
});
const chat_request = { messages: [{ role: 'user', content: 'Hello' }] };
const chat = (generate_response: object, more: object = {}): SentRequest =>
  post(chatPath, { model: 'demo', generate_response, chat_request, ...more });
const completions = (generate_responses: readonly object[], more: object = {}): SentRequest =>
  post(textPath, { model: 'demo', generate_responses, ...more });
const entry = (token: string, more: object = {}): object => ({ token, logprob: -1, bytes: null, ...more });
const logprobs = { content: [entry('token_id:72', { top_logprobs: [entry('token_id:73')] })] };
const named = matches(/^(?!token_id:)/);
const kv_transfer_params = { key: 'value' };

export const derenderCases: readonly SuiteCase[] = [
  file.same(
    'the tokens of a chat',
    chat(generated()),
    ok({ object: 'chat.completion', id: 'chatcmpl-test-id', 'choices.0.message.role': 'assistant', text }),
  ),
  file.same(
    'what was rendered, as if it had been generated',
    [
      post('/v1/chat/completions/render', chat_request),
      ([rendered]) => chat(generated({ token_ids: rendered!['token_ids'] }), { prompt_tokens: 10 }),
    ],
    ok({ 'usage.prompt_tokens': 10, 'usage.completion_tokens': count }),
  ),
  file.same('without `prompt_tokens`', chat(generated()), ok({ 'usage.prompt_tokens': 0 })),
  file.same(
    'log probabilities by `token_id:`',
    chat(generated({ logprobs })),
    ok({
      'choices.0.logprobs.content': long(1),
      'choices.0.logprobs.content.0.token': named,
      'choices.0.logprobs.content.0.bytes': ids,
      'choices.0.logprobs.content.0.top_logprobs.0.token': named,
    }),
  ),
  file.same(
    '`prompt_logprobs`',
    chat(generated({}, { prompt_logprobs: [null, null] })),
    ok({ prompt_logprobs: long(2) }),
  ),
  file.same(
    '`kv_transfer_params`',
    chat(generated({}, { kv_transfer_params })),
    ok({ 'kv_transfer_params.key': 'value' }),
  ),
  ...[[], null].map((none) =>
    file.same(
      `\`token_ids: ${JSON.stringify(none)}\``,
      chat(generated({ token_ids: none })),
      refused('generate_response.choices.0.token_ids'),
    ),
  ),
  file.same('another model', chat(generated(), { model: 'does-not-exist' }), absent('does not exist')),
  file.same(
    'the tokens of two completions',
    completions([generated(), generated()], { prompt_tokens: [5, 10] }),
    ok({
      object: 'text_completion',
      'choices.0.index': 0,
      'choices.1.index': 1,
      'choices.1.text': text,
      'usage.prompt_tokens': 15,
      'usage.completion_tokens': 6,
    }),
  ),
  file.same(
    '`prompt_tokens` of another length',
    completions([generated()], { prompt_tokens: [5, 10] }),
    refused('prompt_tokens'),
  ),
  file.same('no `generate_responses`', completions([]), refused('generate_responses')),
  file.same(
    'log probabilities of a completion',
    completions([generated({ logprobs })]),
    ok({
      'choices.0.logprobs.tokens': long(1),
      'choices.0.logprobs.tokens.0': named,
      'choices.0.logprobs.text_offset.0': 0,
    }),
  ),
  file.same(
    '`kv_transfer_params` of a completion',
    completions([generated({}, { kv_transfer_params })]),
    ok({ 'kv_transfer_params.key': 'value' }),
  ),
  streams.differs(
    'a chunk at a time',
    post(chatPath, {
      stream: true,
      model: 'demo',
      generate_chunk: generated(),
      stream_state: null,
      chat_request,
    }),
    refused('generate_response', 'stream is not supported with this value: send the token ids'),
    '`{chunk, stream_state}`',
    'a whole answer alone is read: send the token ids of all chunks as those of one',
  ),
];
