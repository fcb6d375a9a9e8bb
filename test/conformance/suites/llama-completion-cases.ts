// Text completions, as llama.cpp's tests ask for them.

import { choice, complete, completionPath, hot, prompt, streamed } from './completion-request.js';
import { absent, casesOf, long, matches, ok, post, refused, text, type SuiteCase } from './suite-case.js';

const llama = casesOf('llama.cpp', 'completion');
const shift = casesOf('llama.cpp', 'ctx_shift');

export const llamaCompletionCases: readonly SuiteCase[] = [
  llama.differs(
    '`/completion`',
    post('/completion', { prompt, n_predict: 8 }),
    absent(completionPath),
    'an answer with `content`, `tokens` and `timings`',
    'it is llama.cpp’s own; `/v1/completions` and `/generate` complete texts',
  ),
  llama.differs(
    'the route without `/v1`',
    post('/completions', { prompt }),
    absent(completionPath),
    'an answer',
    'a route has one path; the error names it',
  ),
  llama.differs(
    '`n_predict`',
    complete({ n_predict: 8 }),
    refused('n_predict'),
    'as many tokens',
    'it is llama.cpp’s own name of `max_tokens`',
  ),
  llama.same(
    'a completion',
    complete(),
    ok({ text, object: 'text_completion', [`${choice}.finish_reason`]: matches(/^(length|stop)$/) }),
  ),
  llama.same(
    'a stream says what the whole answer does',
    [complete(), complete(streamed)],
    ok({ ended: 1, done: true }),
    { alike: ['text'] },
  ),
  llama.same(
    'ends of one’s own on a stream',
    complete({ ...streamed, stop: ['m', 's'], max_tokens: 20 }),
    ok({ text: matches(/^[^ms]*$/), ended: 1 }),
  ),
  llama.same(
    'one seed',
    [1, 2, 3].map(() => complete({ ...hot, seed: 42 })),
    ok({ text }),
    { alike: ['text'] },
  ),
  llama.same(
    'three seeds',
    [1, 2, 3].map((seed) => complete({ ...hot, seed, ignore_eos: true })),
    ok({ text }),
    { unlike: ['text'] },
  ),
  llama.same(
    'a prompt beyond the context',
    complete({ prompt: 'I believe the meaning of life is'.repeat(320) }),
    refused('prompt', 'tokens'),
  ),
  llama.same(
    'token ids, and lists of them',
    [
      post('/tokenize', { prompt }),
      ([tokenized]) => complete({ prompt: tokenized!['tokens'] }),
      ([tokenized]) => complete({ prompt: [tokenized!['tokens'], tokenized!['tokens']] }),
    ],
    ok({ choices: long(2), 'choices.1.text': text }),
  ),
  ...[
    [[1, 2, 3], prompt],
    [1, 2, prompt, 3],
  ].map((mixed) =>
    llama.differs(
      `texts among token ids: ${JSON.stringify(mixed)}`,
      complete({ prompt: mixed }),
      refused('prompt', 'a list of texts'),
      'one prompt or two',
      'as OpenAI’s and vLLM’s: texts or ids',
    ),
  ),
  llama.differs(
    '`response_fields`',
    complete({ response_fields: ['content'] }),
    refused('response_fields'),
    'these members alone',
    'an answer has the members of the protocol',
  ),
  llama.differs(
    '`n_probs`',
    complete({ n_probs: 10 }),
    refused('n_probs'),
    '`completion_probabilities`',
    '`logprobs` has them',
  ),
  llama.differs(
    '`post_sampling_probs`',
    complete({ post_sampling_probs: true }),
    refused('post_sampling_probs'),
    'probabilities after sampling',
    '`logprobs` are those of the model, as OpenAI’s and vLLM’s',
  ),
  llama.differs(
    '`logit_bias` as a list',
    complete({ logit_bias: [[5, -100]] }),
    refused('logit_bias'),
    'the bias of ids and texts',
    'as OpenAI’s and vLLM’s: an object by id; `bad_words` takes texts',
  ),
  llama.same('`cache_prompt: true`', complete({ cache_prompt: true }), ok({ text })),
  llama.differs(
    '`cache_prompt: false`',
    complete({ cache_prompt: false }),
    refused('cache_prompt'),
    'an answer past the cache',
    'a `cache_salt` that nobody else has keeps a prompt from the cache',
  ),
  llama.differs(
    '`id_slot`',
    complete({ id_slot: 1 }),
    refused('id_slot'),
    'an answer in this slot',
    'there are no slots: every prefix is cached for all requests',
  ),
  casesOf('llama.cpp', 'ignore_eos').same(
    '`ignore_eos: true`',
    complete({ ignore_eos: true, max_tokens: 9 }),
    ok({ 'usage.completion_tokens': 9, [`${choice}.finish_reason`]: 'length' }),
  ),
  casesOf('llama.cpp', 'ignore_eos').same(
    '`ignore_eos: false`',
    complete({ ignore_eos: false, max_tokens: 40 }),
    ok({ [`${choice}.finish_reason`]: 'stop' }),
  ),
  shift.differs(
    'no `max_tokens`',
    complete({ max_tokens: null, ignore_eos: true }),
    ok({ 'usage.completion_tokens': 16, 'choices.0.finish_reason': 'length' }),
    'all that the context holds',
    'as OpenAI’s and vLLM’s: 16 tokens, where a chat has all that the context holds',
  ),
  shift.same(
    'an answer up to the end of the context',
    post('/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Hi how are you' }],
      ignore_eos: true,
    }),
    ok({ 'usage.total_tokens': 1024, 'choices.0.finish_reason': 'length' }),
  ),
  shift.differs(
    'more than the context holds',
    complete({ max_tokens: 2000 }),
    refused('max_tokens', 'the context is 1024'),
    'an answer whose beginning is forgotten, with a flag',
    'nothing is forgotten unasked: `truncate_prompt_tokens` cuts a prompt',
  ),
];
