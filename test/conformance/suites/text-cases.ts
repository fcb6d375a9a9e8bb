// Embeddings and tokens of texts, as llama.cpp's and vLLM's tests ask for them.

import { hello } from './chat-request.js';
import {
  absent,
  casesOf,
  count,
  get,
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

const embed = (input: unknown, more: object = {}): SentRequest => post('/v1/embeddings', { input, ...more });
const unit = (value: unknown): boolean =>
  Array.isArray(value) &&
  Math.abs((value as number[]).reduce((sum, each) => sum + each * each, 0) - 1) < 1e-3;
const first = 'data.0.embedding';

const embedding = casesOf('llama.cpp', 'embedding');
const asTexts = 'as OpenAI’s and vLLM’s: a text, texts, ids or lists of ids';

const embeddings: readonly SuiteCase[] = [
  embedding.same(
    'a text',
    embed('I believe the meaning of life is'),
    ok({ data: long(1), [first]: unit, 'usage.prompt_tokens': count }),
  ),
  embedding.same('four texts', embed(['a', 'b', 'c', 'd']), ok({ data: long(4), 'data.3.embedding': unit })),
  embedding.same('token ids', embed([12, 34, 56]), ok({ data: long(1), [first]: unit })),
  embedding.same(
    'lists of token ids',
    embed([
      [12, 34, 56],
      [12, 34],
    ]),
    ok({ data: long(2) }),
  ),
  embedding.differs(
    'an empty text',
    embed(''),
    refused('input', 'no tokens'),
    'an embedding',
    'as OpenAI’s: there is nothing to embed',
  ),
  ...[
    [12, 'string', 34],
    ['string', [12, 34]],
    { prompt_string: 'string' },
    { content: [{ type: 'text', text: 'string' }] },
  ].map((input) =>
    embedding.differs(
      `the input ${JSON.stringify(input)}`,
      embed(input),
      refused('input'),
      'an embedding',
      asTexts,
    ),
  ),
  ...[[], { content: 'string' }].map((input) =>
    embedding.same(`the input ${JSON.stringify(input)}`, embed(input), refused('input')),
  ),
  embedding.same('`pooling: mean`', embed('This is a test', { pooling: 'mean' }), ok({ [first]: unit })),
  embedding.differs(
    '`pooling: none`',
    embed('x', { pooling: 'none' }),
    refused('pooling'),
    'a vector for each token, from the route without `/v1`',
    'on `/v1/embeddings` llama.cpp refuses it too',
  ),
  embedding.differs(
    'the route without `/v1`',
    post('/embeddings', { input: 'x' }),
    absent('/v1/embeddings'),
    'an answer',
    'a route has one path; the error names it',
  ),
  embedding.same(
    '`base64`',
    embed('x', { encoding_format: 'base64' }),
    ok({ [first]: matches(/^[A-Za-z0-9+/]+=*$/) }),
  ),
  embedding.same('one text twice', [embed('a'), embed('a')], ok(), { alike: [first] }),
  embedding.same(
    'a text beyond the context',
    embed('This is a test '.repeat(512)),
    refused('input', 'but the context is 1024'),
  ),
];

const tokenize = casesOf('llama.cpp', 'tokenize');
const tokens = casesOf('vLLM', 'test_tokenization');
export const tokenTools = [
  { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } },
];
const prompt = 'vllm1 This is a test prompt.';

const tokenCases: readonly SuiteCase[] = [
  tokenize.differs(
    '`content` at `/tokenize`',
    post('/tokenize', { content: 'What is it?' }),
    refused('content'),
    '`tokens`',
    'it is vLLM’s route: the text is `prompt`',
  ),
  tokenize.differs(
    '`with_pieces`',
    post('/tokenize', { prompt, with_pieces: true }),
    refused('with_pieces'),
    'the text of each token',
    '`return_token_strs` gives it',
  ),
  tokenize.differs(
    '`/detokenize`',
    post('/detokenize', { tokens: [5, 6] }),
    ok({ prompt: text }),
    '`content`',
    'it is vLLM’s route: the text is `prompt`',
  ),
  tokenize.same(
    'a text and back',
    [post('/tokenize', { prompt }), ([there]) => post('/detokenize', { tokens: there!['tokens'] })],
    ok({ prompt }),
  ),
  ...[true, false].map((add_special_tokens) =>
    tokens.same(
      `\`add_special_tokens: ${String(add_special_tokens)}\``,
      post('/tokenize', { prompt, add_special_tokens, model: 'demo' }),
      ok({ tokens: ids, count, max_model_len: 1024, token_strs: null }),
    ),
  ),
  tokens.same(
    'a conversation, with and without the beginning of an answer',
    [true, false].map((add_generation_prompt) =>
      post('/tokenize', { messages: hello, add_generation_prompt }),
    ),
    ok({ tokens: ids }),
    { unlike: ['count'] },
  ),
  tokens.same(
    'a conversation that continues',
    post('/tokenize', {
      messages: [...hello, { role: 'assistant', content: 'Sure,' }],
      continue_final_message: true,
      add_generation_prompt: false,
    }),
    ok({ tokens: ids }),
  ),
  tokens.same(
    'a conversation with tools',
    [post('/tokenize', { messages: hello }), post('/tokenize', { messages: hello, tools: tokenTools })],
    ok({ tokens: ids }),
    { unlike: ['count'] },
  ),
  tokens.same(
    '`return_token_strs`',
    post('/tokenize', { prompt: 'What is the', return_token_strs: true }),
    ok({ token_strs: ['What', 'Ġis', 'Ġthe'] }),
  ),
  tokens.same(
    '`/tokenizer_info`',
    get('/tokenizer_info'),
    ok({
      tokenizer_class: text,
      chat_template: text,
      'added_tokens_decoder.2044.special': true,
      eos_token: text,
    }),
  ),
];

export const textCases: readonly SuiteCase[] = [...embeddings, ...tokenCases];
