// Text completions, as vLLM's tests ask for them.

import { choice, complete, hot, prompt, streamed } from './completion-request.js';
import {
  casesOf,
  contains,
  count,
  ids,
  jsonWith,
  long,
  matches,
  missing,
  ok,
  refused,
  text,
  type Expected,
  type SuiteCase,
  type View,
} from './suite-case.js';

const usageAlways = (value: unknown): boolean =>
  (value as View[]).every(({ usage }) => (usage ?? null) !== null);
const echoed: Expected['has'] = {
  [`${choice}.logprobs.token_logprobs.0`]: null,
  [`${choice}.logprobs.top_logprobs.0`]: null,
  [`${choice}.logprobs.text_offset`]: (value: unknown) =>
    (value as number[]).every((each, index, all) => index === 0 || each > all[index - 1]!),
};
const one: Expected['has'] = {
  [`${choice}.logprobs.top_logprobs.0`]: (value: unknown) => Object.keys(value as object).length === 1,
};

const vllm = casesOf('vLLM', 'completion/test_completion');
const prompts = casesOf('vLLM', 'completion/test_prompt_validation');
const negative = casesOf('vLLM', 'completion/test_completion_error');
const idsOf = casesOf('vLLM', 'basic/test_return_token_ids');
const ids5 = [0, 0, 0, 0, 0];
const eight = [1, 2, 3, 4, 5, 6, 7, 8];

export const vllmCompletionCases: readonly SuiteCase[] = [
  vllm.same(
    'a completion',
    complete(),
    ok({
      id: contains('cmpl-'),
      choices: long(1),
      'usage.prompt_tokens_details.cached_tokens': (value: unknown) => Number.isInteger(value),
      'usage.total_tokens': count,
    }),
  ),
  vllm.same('token ids', complete({ prompt: ids5 }), ok({ text, [`${choice}.prompt_logprobs`]: missing })),
  ...(['left', 'right'] as const).map((truncation_side) =>
    vllm.same(
      `\`truncation_side: ${truncation_side}\``,
      complete({ prompt: eight, return_token_ids: true, truncate_prompt_tokens: 4, truncation_side }),
      ok({ [`${choice}.prompt_token_ids`]: truncation_side === 'left' ? [5, 6, 7, 8] : [1, 2, 3, 4] }),
    ),
  ),
  vllm.same(
    '`logprobs: null`',
    complete({ prompt: ids5, logprobs: null }),
    ok({ [`${choice}.logprobs`]: null }),
  ),
  vllm.same('`logprobs: 0`', complete({ prompt: ids5, logprobs: 0 }), ok(one)),
  vllm.same(
    '`logprobs: 5`',
    complete({ prompt: ids5, logprobs: 5 }),
    ok({
      [`${choice}.logprobs.top_logprobs.0`]: (value: unknown) =>
        [5, 6].includes(Object.keys(value as object).length),
    }),
  ),
  vllm.same('`logprobs: 21`', complete({ logprobs: 21 }), refused('logprobs')),
  vllm.same('`logprobs: 30` on a stream', complete({ logprobs: 30, ...streamed }), refused('logprobs')),
  ...[0, 1].map((prompt_logprobs) =>
    vllm.same(
      `\`prompt_logprobs: ${String(prompt_logprobs)}\` of two prompts`,
      complete({ prompt: ['A robot may not', 'My name is'], prompt_logprobs }),
      ok({
        'choices.1.prompt_logprobs.0': null,
        'choices.1.prompt_logprobs.1': (value: unknown) => value !== null,
      }),
    ),
  ),
  vllm.same('`prompt_logprobs: -1`', complete({ prompt_logprobs: -1 }), refused('prompt_logprobs')),
  vllm.same(
    'three choices',
    complete({ n: 3, ...hot, seed: 42, logprobs: 0 }),
    ok({ choices: long(3), 'choices.2.index': 2 }),
  ),
  vllm.same('three choices on a stream', complete({ n: 3, ...hot, ...streamed }), ok({ ended: 3 })),
  ...[{ include_usage: false, continuous_usage_stats: false }, {}].map((stream_options) =>
    vllm.differs(
      `\`stream_options: ${JSON.stringify(stream_options)}\``,
      complete({ ...streamed, stream_options }),
      ok({ 'last.usage.completion_tokens': count }),
      'no usage in any chunk',
      'clients of Lift Wing count on it in the last chunk of a text, and others look for it in no chunk',
    ),
  ),
  vllm.differs(
    '`continuous_usage_stats` without `include_usage`',
    complete({ ...streamed, stream_options: { include_usage: false, continuous_usage_stats: true } }),
    ok({ events: usageAlways }),
    'no usage',
    'what is asked for is given',
  ),
  vllm.same(
    'usage at the end',
    complete({ ...streamed, stream_options: { include_usage: true } }),
    ok({ 'last.choices': [], 'last.usage.completion_tokens': count, 'first.usage': null }),
  ),
  vllm.same(
    'usage in each chunk',
    complete({ ...streamed, stream_options: { include_usage: true, continuous_usage_stats: true } }),
    ok({ events: usageAlways, 'last.choices': [] }),
  ),
  ...['include_usage', 'continuous_usage_stats'].flatMap((name) =>
    [null, true].map((value) =>
      vllm.same(
        `\`${name}: ${String(value)}\` without a stream`,
        complete({ stream_options: { [name]: value } }),
        refused('stream_options'),
      ),
    ),
  ),
  vllm.same(
    'two prompts',
    complete({ prompt: [prompt, prompt] }),
    ok({ choices: long(2), 'choices.1.text': text }),
  ),
  vllm.same('two prompts on a stream', complete({ prompt: [prompt, prompt], ...streamed }), ok({ ended: 2 })),
  vllm.differs(
    '`use_beam_search: true`',
    complete({ use_beam_search: true, n: 2 }),
    refused('use_beam_search'),
    'the best of several beams',
    'the engine samples; `best_of` keeps the likeliest of several answers',
  ),
  ...[1, 0].map((logprobs) =>
    vllm.same(
      `an echo with \`logprobs: ${String(logprobs)}\``,
      complete({ echo: true, logprobs }),
      ok({ text: matches(/^Hello, my name is./), ...echoed }),
    ),
  ),
  vllm.same('an echo of token ids', complete({ prompt: ids5, echo: true, logprobs: 0 }), ok(echoed)),
  vllm.same(
    'a schema with a property that is none',
    complete({ structured_outputs: { json: { type: 'object', properties: { foo: 'bar' } } } }),
    refused('structured_outputs.json.properties.foo'),
  ),
  vllm.same(
    'a regular expression that is none',
    complete({ structured_outputs: { regex: '[.*' }, stop: ['\n'] }),
    refused('structured_outputs.regex'),
  ),
  vllm.same('a grammar that is none', complete({ structured_outputs: { grammar: 'root ::= other\n' } }), {
    status: 400,
    has: { 'error.message': contains('other') },
  }),
  vllm.same(
    'a schema',
    complete({
      structured_outputs: {
        json: {
          type: 'object',
          properties: { a: { type: 'boolean' } },
          required: ['a'],
          additionalProperties: false,
        },
      },
      max_tokens: 60,
    }),
    ok({ text: jsonWith('a') }),
  ),
  prompts.same('no prompt', complete({ prompt: null }), refused('prompt')),
  prompts.differs(
    '`prompt_embeds`',
    complete({ prompt_embeds: 'AAAA' }),
    refused('prompt_embeds'),
    'an answer to them, with a flag',
    'the engine reads tokens',
  ),
  prompts.same('an id outside the vocabulary', complete({ prompt: [999999] }), refused('prompt', '999999')),
  casesOf('vLLM', 'completion/test_empty_prompt_list').same(
    'an empty list',
    complete({ prompt: [] }),
    refused('prompt', 'empty'),
  ),
  ...[[-1], [[-1]]].map((each) =>
    negative.same(`the ids ${JSON.stringify(each)}`, complete({ prompt: each }), refused('prompt', 'from 0')),
  ),
  negative.same(
    '`json_schema` without a schema',
    complete({ response_format: { type: 'json_schema' } }),
    refused('response_format.json_schema'),
  ),
  casesOf('vLLM', 'chat_completion/test_thinking_token_budget_validation').differs(
    'a thinking budget',
    complete({ thinking_token_budget: 5 }),
    refused('thinking_token_budget'),
    'it is taken',
    'in the text of a completion reasoning is not separated',
  ),
  idsOf.same(
    'ids, log probabilities and an echo',
    complete({
      echo: true,
      logprobs: 1,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
      prompt_logprobs: 1,
    }),
    ok({
      [`${choice}.token_ids`]: ids,
      [`${choice}.prompt_token_ids`]: ids,
      [`${choice}.prompt_logprobs`]: (value: unknown) => Array.isArray(value),
      [`${choice}.logprobs.tokens.0`]: matches(/^token_id:/),
    }),
  ),
  idsOf.same(
    'ids on a stream',
    complete({ ...streamed, logprobs: 1, return_token_ids: true, return_tokens_as_token_ids: true }),
    ok({ 'first.choices.0.prompt_token_ids': ids, 'first.choices.0.token_ids': ids }),
  ),
];
