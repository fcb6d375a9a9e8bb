// Responses, as llama.cpp's and vLLM's tests ask for them.

import {
  absent,
  casesOf,
  contains,
  count,
  get,
  ids,
  long,
  matches,
  ok,
  post,
  refused,
  text,
  type Expected,
  type SentRequest,
  type SuiteCase,
  type View,
} from './suite-case.js';

/** Greedy and short unless the fields say otherwise. */
export const respond = (fields: object = {}): SentRequest =>
  post('/v1/responses', { input: 'Write an example', max_output_tokens: 8, temperature: 0, ...fields });

const says = (type: string, value: string): object => ({ type, text: value });
const user = (value: string): object => ({
  type: 'message',
  role: 'user',
  content: [says('input_text', value)],
});
const assistant = (more: object = {}): object => ({
  type: 'message',
  role: 'assistant',
  content: [says('output_text', 'Acknowledged.')],
  ...more,
});
const reasoning = (more: object = {}): object => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: null,
  ...more,
});

/** Every event of the text is of the item that was added. */
const oneItem = (value: unknown): boolean => {
  const events = value as readonly (View & { item?: { id: string }; item_id?: string })[];
  const added = events.find(({ type }) => type === 'response.output_item.added')?.item?.id ?? '';
  const named = events.flatMap(({ item, item_id }) => item?.id ?? item_id ?? []);
  return added.startsWith('msg_') && named.every((id) => id === added);
};
const ordered = (value: unknown): boolean =>
  (value as readonly View[]).every((event, index) => event['sequence_number'] === index);

const format = (each: object): SentRequest => respond({ text: { format: each }, max_output_tokens: 12 });
const cut: Expected['has'] = { status: 'incomplete', 'incomplete_details.reason': 'max_output_tokens' };
const message = { 'output.0.type': 'message', text };

const llama = casesOf('llama.cpp', 'compat_oai_responses');
const basic = casesOf('vLLM', 'responses/test_basic');
const simple = casesOf('vLLM', 'responses/test_simple');
const stateful = casesOf('vLLM', 'responses/test_stateful');
const notStored =
  'only servers with `server.storedResponses` store answers; with others the client sends the items of earlier ones as `input`';

export const responsesCases: readonly SuiteCase[] = [
  llama.same(
    '`json_schema`',
    format({ type: 'json_schema', name: 'test', schema: { const: 'foooooo' } }),
    ok({ text: '"foooooo"' }),
  ),
  llama.same('`json_object`', format({ type: 'json_object' }), ok({ text: matches(/^\s*\{/) })),
  llama.same('`type: text`', format({ type: 'text' }), ok(message)),
  llama.same(
    '`json_schema` without a schema',
    format({ type: 'json_schema', name: 'test' }),
    refused('text.format.schema'),
  ),
  llama.same(
    'a list of messages',
    respond({
      input: [
        { role: 'system', content: 'Book' },
        { role: 'user', content: 'What is the best book' },
      ],
    }),
    ok({ id: matches(/^resp_/), 'output.0.id': matches(/^msg_/), text }),
  ),
  llama.same(
    'a stream',
    [respond(), respond({ stream: true })],
    ok({
      'first.type': 'response.created',
      'first.response.id': matches(/^resp_/),
      events: oneItem,
      'last.response.output.0.id': matches(/^msg_/),
    }),
    { alike: ['text'] },
  ),
  llama.differs(
    'a model of another name',
    respond({ model: 'gpt-4.1' }),
    absent('does not exist'),
    'an answer, whatever the name is',
    'as OpenAI’s and vLLM’s',
  ),
  llama.differs(
    'the route without `/v1`',
    post('/responses', { input: 'x' }),
    absent('/v1/responses'),
    'an answer',
    'a route has one path; the error names it',
  ),
  llama.differs(
    '`timings_per_token` and `return_progress`',
    respond({ stream: true, timings_per_token: true, return_progress: true }),
    { status: 400, has: { 'error.message': matches(/timings_per_token.*return_progress/) } },
    'events with `timings` and `prompt_progress`',
    '`/metrics`, the log and traces have the times',
  ),
  basic.same('a text', respond(), ok({ ...message, object: 'response', 'usage.output_tokens': count })),
  basic.same(
    'instructions',
    [respond(), respond({ instructions: 'Finish with QED.' })],
    ok({ instructions: 'Finish with QED.' }),
    { unlike: ['usage.input_tokens'] },
  ),
  basic.same(
    '`input_text`',
    respond({ input: [{ role: 'user', content: [says('input_text', 'Hello!')] }] }),
    ok(message),
  ),
  basic.same(
    'log probabilities',
    respond({ include: ['message.output_text.logprobs'], top_logprobs: 5 }),
    ok({ 'output.0.content.0.logprobs.0.top_logprobs': long(5) }),
  ),
  basic.same(
    'the order of events',
    respond({ stream: true }),
    ok({ events: ordered, 'first.type': 'response.created' }),
  ),
  simple.same(
    'an answer to its end',
    respond({ max_output_tokens: 200, reasoning: { effort: 'none' } }),
    ok({ status: 'completed', incomplete_details: null }),
  ),
  simple.same('an answer that a limit cuts', respond({ max_output_tokens: 1 }), ok(cut)),
  simple.differs(
    'the last event of an answer that a limit cuts',
    respond({ max_output_tokens: 1, stream: true }),
    ok({ 'last.type': 'response.incomplete', 'last.response.status': 'incomplete' }),
    '`response.completed`',
    'as OpenAI’s: the event has the name of the status',
  ),
  simple.differs(
    '`enable_response_messages: true`',
    respond({ enable_response_messages: true }),
    refused('enable_response_messages'),
    '`input_messages` and `output_messages`',
    '`/v1/responses/input_tokens` counts, `/v1/chat/completions/render` has the token ids',
  ),
  simple.same('`enable_response_messages: false`', respond({ enable_response_messages: false }), ok(message)),
  simple.same(
    'an item of reasoning without an answer to it',
    respond({
      input: [
        { type: 'message', content: 'Hello.', role: 'user' },
        reasoning({ id: 'lol', content: [says('reasoning_text', 'We greet.')] }),
      ],
    }),
    ok({ text }),
  ),
  simple.same(
    'items of earlier answers with ids',
    respond({
      input: [
        user('a'),
        assistant({ id: 'msg_1', status: 'completed' }),
        reasoning({ id: 'rs_1', status: 'completed' }),
        user('b'),
      ],
    }),
    ok(message),
  ),
  simple.same(
    'items of earlier answers without ids',
    respond({ input: [user('a'), assistant(), reasoning(), user('b')] }),
    ok(message),
  ),
  simple.same(
    'log probabilities on a stream',
    respond({ stream: true, top_logprobs: 3, include: ['message.output_text.logprobs'] }),
    ok({
      events: (value: unknown) =>
        (value as readonly View[])
          .filter(({ type }) => type === 'response.output_text.delta')
          .every(({ logprobs }) => (logprobs as unknown[]).length > 0),
    }),
  ),
  simple.same('reasoning is counted', respond(), ok({ 'usage.output_tokens_details.reasoning_tokens': 0 })),
  simple.same('vLLM’s sampling', respond({ top_k: 40, repetition_penalty: 1.2, seed: 42 }), ok(message)),
  casesOf('vLLM', 'responses/test_sampling_params').same(
    'an end of one’s own',
    respond({ stop: 'e', max_output_tokens: 30 }),
    ok({ status: 'completed', text: matches(/^[^e]*$/) }),
  ),
  simple.same('no tools, and no background', respond({ tools: [], background: false }), ok(message)),
  casesOf('vLLM', 'responses/test_chat_template_kwargs').same(
    'variables of the chat template',
    respond({ chat_template_kwargs: { enable_thinking: false } }),
    ok(message),
  ),
  casesOf('vLLM', 'responses/test_count_tokens').same(
    'the tokens of a prompt',
    post('/v1/responses/input_tokens', { input: 'Hello world' }),
    ok({ input_tokens: count }),
  ),
  stateful.same('`store: false`', respond({ store: false }), ok({ store: false })),
  stateful.differs(
    'an answer of earlier',
    get('/v1/responses/resp_1'),
    absent('server.storedResponses'),
    'the stored answer',
    notStored,
  ),
  stateful.differs(
    'the end of an answer',
    post('/v1/responses/resp_1/cancel', {}),
    absent('server.storedResponses'),
    '`cancelled`, or 400',
    notStored,
  ),
  stateful.differs(
    '`background: true`',
    respond({ background: true }),
    refused('background', 'nothing is stored'),
    '`queued`',
    notStored,
  ),
  stateful.same(
    '`background: true` with `store: false`',
    respond({ background: true, store: false }),
    refused('background'),
  ),
  stateful.differs(
    '`previous_response_id`',
    respond({ previous_response_id: 'resp_1' }),
    refused('previous_response_id', 'send the conversation itself'),
    'an answer to both',
    notStored,
  ),
  casesOf('vLLM', 'cpu/test_render').same(
    'the tokens of a chat',
    post('/v1/chat/completions/render', {
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
      stream_options: { include_usage: true },
    }),
    ok({ token_ids: ids, stream: true }),
  ),
  ...[
    ['/v1/chat/completions/render', { messages: [{ role: 'user', content: 'x' }] }] as const,
    ['/v1/completions/render', { prompt: 'x' }] as const,
  ].map(([path, body]) =>
    casesOf('vLLM', 'cpu/test_render').same(
      `another model at ${path}`,
      post(path, { ...body, model: 'x' }),
      absent('does not exist'),
    ),
  ),
  casesOf('vLLM', 'cpu/test_render').same(
    'the tokens of two prompts',
    post('/v1/completions/render', { prompt: ['Hello world', 'Goodbye world'] }),
    ok({ list: long(2), 'list.1.token_ids': ids }),
  ),
  casesOf('vLLM', 'cpu/test_render').differs(
    'the members of a rendered prompt',
    post('/v1/completions/render', { prompt: 'Hello' }),
    ok({ 'list.0.token_ids': ids, 'list.0.request_id': contains('render-') }),
    '`prompt` and `prompt_token_ids`, in older versions; `sampling_params` in newer ones',
    'what llm-d reads: `token_ids`',
  ),
];
