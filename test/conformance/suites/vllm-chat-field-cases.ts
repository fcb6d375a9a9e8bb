// Fields of chat completions, as vLLM's tests ask for them, each field in a file of its own.

import { chat, chatPath, hello, message, reply, streamed } from './chat-request.js';
import {
  absent,
  casesOf,
  contains,
  ids,
  long,
  matches,
  missing,
  ok,
  post,
  refused,
  text,
  type SentRequest,
  type SuiteCase,
} from './suite-case.js';

const other = (file: string) => casesOf('vLLM', `chat_completion/${file}`);
const bias = other('test_chat_logit_bias_validation');
const stops = other('test_chat_stop_token_ids_validation');
const errors = other('test_chat_error');
const budget = other('test_thinking_token_budget_validation');
const echo = other('test_chat_echo');
const formats = other('test_chat_completion');
const idsOf = casesOf('vLLM', 'basic/test_return_token_ids');

const truncated = { return_token_ids: true, truncate_prompt_tokens: 4, max_tokens: 1 };
const tail = { continue_final_message: true, add_generation_prompt: false };
const structured = (structured_outputs: object, fields: object = {}): SentRequest =>
  chat({ structured_outputs, max_tokens: 16, ...fields });
const format = (response_format: unknown): SentRequest => chat({ response_format, max_tokens: 10 });

export const vllmChatFieldCases: readonly SuiteCase[] = [
  bias.same('the last id of the vocabulary', chat({ logit_bias: { '2047': 1 } }), ok({ text })),
  bias.same(
    'an id outside the vocabulary',
    chat({ logit_bias: { '2049': 1 } }),
    refused('logit_bias', "2049, but the model's vocabulary ends at 2047"),
  ),
  bias.same(
    'a key that is no id',
    chat({ logit_bias: { not_a_token_id: 50 } }),
    refused('logit_bias', 'not_a_token_id'),
  ),
  bias.same('two keys that are no ids', chat({ logit_bias: { bad1: 50, bad2: 20 } }), {
    status: 400,
    has: { 'error.message': matches(/bad1.*bad2/) },
  }),
  bias.same(
    'a bias that is no number',
    chat({ logit_bias: { '1': 'not_a_number' } }),
    refused('logit_bias.1'),
  ),
  stops.same('the last id of the vocabulary', chat({ stop_token_ids: [2047] }), ok({ text })),
  stops.same(
    'an id outside the vocabulary',
    chat({ stop_token_ids: [2049] }),
    refused('stop_token_ids', "2049, but the model's vocabulary ends at 2047"),
  ),
  stops.same('a negative id', chat({ stop_token_ids: [-1] }), refused('stop_token_ids.0')),
  ...['"not an object"', '["not", "an", "object"]', '42', 'null', '{{{'].map((body) =>
    other('test_non_object_body_validation').same(
      `the body ${body}`,
      post(chatPath, body),
      refused(null, 'the body'),
    ),
  ),
  other('test_non_object_body_validation').same(
    'an empty `cache_salt`',
    chat({ cache_salt: '' }),
    refused('cache_salt'),
  ),
  errors.same(
    'a system message in parts',
    chat({ messages: [{ role: 'system', content: [{ type: 'text', text: 'x' }] }, ...hello] }),
    ok({ text }),
  ),
  ...['image_url', 'input_audio', 'video_url'].map((type) =>
    errors.differs(
      `\`${type}\` in a message`,
      chat({ messages: [{ role: 'user', content: [{ type, [type]: {} }] }] }),
      refused('messages.0.content.0', 'the model reads text only'),
      'an answer of a model that has eyes or ears',
      'the models served here read text',
    ),
  ),
  errors.same(
    '`json_schema` without a schema',
    format({ type: 'json_schema' }),
    refused('response_format.json_schema'),
  ),
  ...[-2, 0.6].map((thinking_token_budget) =>
    budget.same(
      `a budget of ${String(thinking_token_budget)}`,
      chat({ thinking_token_budget }),
      refused('thinking_token_budget'),
    ),
  ),
  ...[10, -1].map((thinking_token_budget) =>
    budget.same(
      `a budget of ${String(thinking_token_budget)}`,
      chat({ thinking_token_budget }),
      ok({ text }),
    ),
  ),
  other('test_include_reasoning').same(
    '`include_reasoning: false`',
    chat({ include_reasoning: false }),
    ok({ [`${message}.reasoning`]: null }),
  ),
  other('test_reasoning_effort').same(
    '`reasoning_effort: none`',
    chat({ reasoning_effort: 'none' }),
    ok({ text }),
  ),
  other('test_logprob_token_ids').same(
    '`logprob_token_ids`',
    chat({ logprobs: true, logprob_token_ids: [1, 2, 3] }),
    ok({ text }),
  ),
  other('test_token_in_token_out').differs(
    '`prompt_token_ids`',
    chat({ prompt_token_ids: [1, 2, 3] }),
    refused('prompt_token_ids'),
    'an answer to these tokens',
    '`/v1/completions` takes token ids; `/v1/chat/completions/render` gives those of a chat',
  ),
  other('test_batched_chat_completions').differs(
    'several conversations at once',
    post(`${chatPath}/batch`, { messages: [hello, hello] }),
    absent('/v1/chat/completions'),
    'a choice for each',
    'the scheduler batches requests: send one for each conversation',
  ),
  echo.same(
    'the last message continues',
    chat({ messages: reply('Kub'), ...tail }),
    ok({ [`${message}.role`]: 'assistant', text: matches(/^(?!Kub)/) }),
  ),
  echo.same(
    'it cannot continue and be answered',
    chat({ messages: reply('Kub'), ...tail, add_generation_prompt: true }),
    refused('continue_final_message'),
  ),
  echo.same('`echo: false`', chat({ messages: reply('Kub'), ...tail, echo: false }), ok({ text })),
  echo.differs(
    '`echo: true`',
    chat({ messages: reply('Kub'), ...tail, echo: true }),
    refused('echo'),
    'the last message before what continues it',
    'the client has that message',
  ),
  ...['prompt_logprobs', 'top_logprobs'].map((field) =>
    echo.differs(
      `\`${field}: -1\``,
      chat({ logprobs: true, [field]: -1 }),
      refused(field),
      'the whole vocabulary, with a flag of the server',
      'without the flag vLLM refuses it too: one answer would have hundreds of megabytes',
    ),
  ),
  ...(['left', 'right'] as const).map((truncation_side) =>
    formats.same(
      `the four tokens of the prompt at its ${truncation_side === 'left' ? 'end' : 'beginning'}`,
      [chat({ ...truncated, truncate_prompt_tokens: null }), chat({ ...truncated, truncation_side })],
      ok({ prompt_token_ids: long(4) }),
    ),
  ),
  formats.same(
    'a schema with a property that is none',
    structured({ json: { type: 'object', properties: { foo: 'bar' } } }),
    refused('structured_outputs.json.properties.foo'),
  ),
  formats.same(
    'a regular expression that is none',
    structured({ regex: '[.*' }),
    refused('structured_outputs.regex'),
  ),
  formats.same('a grammar with a rule that is not there', structured({ grammar: 'root ::= other\n' }), {
    status: 400,
    has: { 'error.message': contains('other') },
  }),
  formats.same('an empty grammar', structured({ grammar: '' }), refused('structured_outputs.grammar')),
  idsOf.same(
    '`return_token_ids`',
    chat({ return_token_ids: true }),
    ok({ prompt_token_ids: ids, 'choices.0.token_ids': ids }),
  ),
  idsOf.same(
    '`return_token_ids: false`',
    chat({ return_token_ids: false }),
    ok({ prompt_token_ids: null, 'choices.0.token_ids': null }),
  ),
  idsOf.same(
    '`return_token_ids` on a stream',
    chat({ return_token_ids: true, ...streamed }),
    ok({
      'first.prompt_token_ids': ids,
      'events.1.prompt_token_ids': missing,
      'events.1.choices.0.token_ids': ids,
    }),
  ),
  idsOf.same(
    '`return_tokens_as_token_ids`',
    chat({ logprobs: true, return_tokens_as_token_ids: true }),
    ok({ 'choices.0.logprobs.content.0.token': matches(/^token_id:\d+$/) }),
  ),
];
