// Answers against the types of OpenAI's and Anthropic's own clients: whole, and event by event. Chunks of completions are not
// among them: OpenAI's own have a finish_reason of null, which its types do not know.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { routeTable } from '../../runtime/src/http/api/route-table.js';
import { scriptOf, speaksAndCalls, thinksAndCalls } from '../../runtime/src/http/call-script.fixture.js';
import { byteIds, output, type Script } from '../../runtime/src/http/scripted-engine.fixture.js';
import { ScriptedServer } from '../../runtime/src/http/scripted-server.fixture.js';
import { smallStore } from '../../runtime/src/http/stored-responses/stored-response.fixture.js';
import { typeErrors, type Typed } from './client-types.js';

let server: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start({ tools: true, storedResponses: smallStore() });
});
afterAll(() => server.stop());

const isCut: Script = () => [output(byteIds('Hi')), output([], 'length')];
const fails: Script = function* () {
  yield output(byteIds('Hi'));
  throw new Error('secret');
};

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const responses = {
  path: routeTable.responses.path,
  whole: 'Response',
  event: 'ResponseEvent',
  body: {
    input: 'x',
    tools: [
      { type: 'function', name: 'weather', parameters: schema },
      {
        type: 'namespace',
        name: 'clock',
        description: 'Clocks.',
        tools: [{ type: 'function', name: 'time', parameters: schema }],
      },
    ],
  },
};
const messages = {
  path: routeTable.messages.path,
  whole: 'Anthropic.Message',
  event: 'Anthropic.RawMessageStreamEvent | Anthropic.ErrorResponse',
  body: {
    messages: [{ role: 'user', content: 'x' }],
    max_tokens: 500,
    tools: ['weather', 'time'].map((name) => ({ name, input_schema: schema })),
  },
};

const chat = {
  path: routeTable.chat.path,
  whole: 'OpenAI.ChatCompletion',
  event: 'OpenAI.ChatCompletionChunk',
  body: {
    messages: messages.body.messages,
    tools: ['weather', 'time'].map((name) => ({ type: 'function', function: { name, parameters: schema } })),
  },
};

/** Of one stream. */
const eventsOf = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);

test('answers are what the types of the clients say', async () => {
  const seen: Typed[] = [];
  for (const { path, whole, event, body } of [responses, messages]) {
    for (const script of [thinksAndCalls, isCut, fails]) {
      server.script = script;
      const stream = await server.post(path, { ...body, stream: true });
      seen.push(...eventsOf(await stream.text()).map((value) => ({ type: event, value })));
      if (script === fails) continue;
      const answer = await server.post(path, body);
      seen.push({ type: whole, value: await answer.json() });
    }
  }
  for (const script of [scriptOf(...speaksAndCalls), isCut]) {
    server.script = script;
    for (const include_usage of [true, false]) {
      const asked = { ...chat.body, stream: true, stream_options: { include_usage } };
      const stream = await server.post(chat.path, asked);
      seen.push(...eventsOf(await stream.text()).map((value) => ({ type: chat.event, value })));
    }
    const answer = await server.post(chat.path, chat.body);
    seen.push({ type: chat.whole, value: await answer.json() });
  }
  const { path, event, body } = responses;
  const items = [
    { role: 'user', content: 'x' },
    { type: 'function_call_output', call_id: 'a', output: 'y' },
  ];
  const queued = await server.post(path, { ...body, input: items, background: true });
  const response = (await queued.json()) as { readonly id: string };
  seen.push({ type: 'Response', value: response });
  const one = `${path}/${response.id}`;
  const fetched = [await server.get(one), await server.post(`${one}/cancel`, undefined)];
  for (const answer of fetched) seen.push({ type: 'Response', value: await answer.json() });
  const listed = await server.get(`${one}/input_items`);
  seen.push({ type: 'OpenAI.Responses.ResponseItemList', value: await listed.json() });
  const conversation = await server.post('/v1/conversations', { items });
  const created = (await conversation.json()) as { readonly id: string };
  seen.push({ type: 'OpenAI.Conversations.Conversation', value: created });
  const ofIt = await server.post(path, { ...body, conversation: created.id });
  seen.push({ type: 'Response', value: await ofIt.json() });
  const all = await server.get(`/v1/conversations/${created.id}/items`);
  seen.push({ type: 'OpenAI.Conversations.ConversationItemList', value: await all.json() });
  const resumable = await server.post(path, { ...body, background: true, stream: true });
  seen.push(...eventsOf(await resumable.text()).map((value) => ({ type: event, value })));
  const refused = await server.post(messages.path, { ...messages.body, max_tokens: 0 });
  seen.push({ type: 'Anthropic.ErrorResponse', value: await refused.json() });
  const counted = await server.post(routeTable.countTokens.path, { messages: messages.body.messages });
  seen.push({ type: 'Anthropic.MessageTokensCount', value: await counted.json() });
  const models = await server.get(routeTable.listModels.path);
  seen.push({ type: 'Anthropic.ModelInfo', value: ((await models.json()) as { data: unknown[] }).data[0] });
  server.script = () => [{ ...output([]), embedding: Float32Array.of(3, 4), finish: 'stop' }];
  const embedded = await server.post(routeTable.embeddings.path, { input: ['x', 'y'] });
  seen.push({ type: 'OpenAI.CreateEmbeddingResponse', value: await embedded.json() });
  expect(seen.length).toBeGreaterThan(50);
  expect(typeErrors(seen)).toEqual([]);
});
