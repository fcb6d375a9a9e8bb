// Conversations, as OpenAI's own client creates, continues, lists, changes and deletes them.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI, { APIError } from 'openai';
import { bearer, keys } from '../access/keyed-server.fixture.js';
import { thinksAndCalls } from '../call-script.fixture.js';
import { body, tools } from '../protocols/responses.fixture.js';
import { byteIds, output, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallMemory } from '../stored-responses/stored-response.fixture.js';
import { StoredResponses } from '../stored-responses/stored-responses.js';

let server: ScriptedServer;
/** Of the key `free`, and of another. */
let client: OpenAI;
let other: OpenAI;
beforeEach(async () => {
  const storedResponses = new StoredResponses(smallMemory(() => 0, 50));
  server = await ScriptedServer.start({ tools: true, access: { keys }, storedResponses });
  client = clientOf('free');
  other = clientOf('urgent');
});
afterEach(() => server.stop());

const clientOf = (key: string): OpenAI =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: `secret-${key}`, maxRetries: 0 });

type Asked = OpenAI.Responses.ResponseCreateParamsNonStreaming;
const ask = (asked: Omit<Partial<Asked>, 'stream'>, stream = false): Promise<OpenAI.Responses.Response> => {
  const whole = { ...body, ...asked };
  return stream ? client.responses.stream(whole).finalResponse() : client.responses.create(whole);
};
const user = (content: string) => ({ role: 'user' as const, content });

async function textsIn(id: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 2 }))
    texts.push(
      item.type === 'message'
        ? `${item.role}:${item.content.map((part) => ('text' in part ? part.text : '')).join('')}`
        : item.type,
    );
  return texts;
}

const refusalOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => 'no error',
    (error: unknown): unknown => {
      if (!(error instanceof APIError)) throw error;
      return [error.status, error.code, error.param];
    },
  );

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

describe.each([false, true])('streamed: %s, a conversation', (stream) => {
  test('is what its responses are generated from, and has what they were asked and answered', async () => {
    const { id } = await client.conversations.create({ items: [user('one')] });
    const first = await ask({ input: 'two', conversation: id, instructions: 'Be brief.' }, stream);
    expect(first.conversation).toEqual({ id });
    expect(first.previous_response_id).toBeNull();
    await ask({ input: [user('three')], conversation: { id } }, stream);
    expect(lastPrompt()).toBe('user:oneuser:twoassistant:Hi é!user:three');
    expect(await textsIn(id)).toEqual([
      'user:one',
      'user:two',
      'assistant:Hi é!',
      'user:three',
      'assistant:Hi é!',
    ]);
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    expect(data[2]!.id).toBe(first.output[0]!.id);
  });

  test('has calls and their results', async () => {
    server.script = thinksAndCalls;
    const { id } = await client.conversations.create();
    const { output: answered } = await ask({ tools, conversation: id }, stream);
    const results = answered.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: `${item.name} of it` }]
        : [],
    );
    server.script = says('Hi');
    await ask({ tools, input: results, conversation: id }, stream);
    expect(lastPrompt().replace(/call_[0-9a-f]+/g, 'ID')).toContain(
      '[time {"city": "Bern"}]tool(ID):weather of ittool(ID):time of it',
    );
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    expect(data.map(({ type }) => type)).toEqual([
      'message',
      ...answered.map(({ type }) => type),
      'function_call_output',
      'function_call_output',
      'message',
    ]);
  });

  test('has a response that is not stored itself, and one that was cut', async () => {
    server.script = () => [output(byteIds('Hi')), output([], 'length')];
    const { id } = await client.conversations.create();
    const response = await ask({ conversation: id, store: false }, stream);
    expect(await refusalOf(client.responses.retrieve(response.id))).toEqual([
      404,
      'response_not_found',
      null,
    ]);
    expect(await textsIn(id)).toEqual(['user:x', 'assistant:Hi']);
  });

  test('that is deleted while its response is generated fails the response', async () => {
    const { id } = await client.conversations.create();
    server.script = async function* () {
      yield output(byteIds('Hi'));
      await client.conversations.delete(id);
      yield output([], 'stop');
    };
    const asked = ask({ conversation: id }, stream);
    if (stream) expect(await asked).toMatchObject({ status: 'failed' });
    else expect(await refusalOf(asked)).toEqual([404, 'conversation_not_found', null]);
  });
});

test('of responses at the same time, each is generated from what was there, and all are added', async () => {
  const { id } = await client.conversations.create({ items: [user('one')] });
  await Promise.all(['a', 'b', 'c', 'd'].map((input) => ask({ input, conversation: id })));
  const texts = await textsIn(id);
  expect(
    texts
      .slice(1)
      .filter((_, index) => index % 2 === 0)
      .sort(),
  ).toEqual(['a', 'b', 'c', 'd'].map((text) => `user:${text}`));
  expect(texts.slice(1).filter((_, index) => index % 2 === 1)).toEqual(Array(4).fill('assistant:Hi é!'));
});

test('a response in the background is added when it has ended, and not where it is cancelled or fails', async () => {
  const { id } = await client.conversations.create();
  const queued = await ask({ conversation: id, background: true });
  let { status } = queued;
  while (status !== 'completed') ({ status } = await client.responses.retrieve(queued.id));
  expect(await textsIn(id)).toEqual(['user:x', 'assistant:Hi é!']);
  server.script = function* () {
    yield output(byteIds('Hi'));
    throw new Error('secret');
  };
  expect(await ask({ conversation: id }, true)).toMatchObject({ status: 'failed' });
  expect(await textsIn(id)).toHaveLength(2);
});

test('metadata is kept, and replaced', async () => {
  const made = await client.conversations.create({ metadata: { topic: 'a' } });
  expect(made).toEqual({
    id: expect.stringMatching(/^conv_[0-9a-f]{32}$/),
    object: 'conversation',
    created_at: expect.any(Number),
    metadata: { topic: 'a' },
  });
  expect(await client.conversations.retrieve(made.id)).toEqual(made);
  const changed = { ...made, metadata: { team: 'b' } };
  expect(await client.conversations.update(made.id, { metadata: { team: 'b' } })).toEqual(changed);
  expect(await client.conversations.retrieve(made.id)).toEqual(changed);
  expect(await client.conversations.update(made.id, { metadata: null })).toEqual({ ...made, metadata: {} });
});

test('items are added, listed in pages and both orders, fetched and deleted', async () => {
  const { id } = await client.conversations.create();
  const added = await client.conversations.items.create(id, { items: ['a', 'b', 'c'].map(user) });
  const ids = added.data.map((item) => item.id);
  expect(added).toMatchObject({ first_id: ids[0], last_id: ids[2], has_more: false });
  const newest = await client.conversations.items.list(id, { limit: 2 });
  expect([newest.data.map((item) => item.id), newest.has_more]).toEqual([[ids[2], ids[1]], true]);
  expect((await newest.getNextPage()).data.map((item) => item.id)).toEqual([ids[0]]);
  const one = { conversation_id: id };
  expect(await client.conversations.items.retrieve(ids[1]!, one)).toMatchObject({
    id: ids[1],
    type: 'message',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_text', text: 'b' }],
  });
  expect(await client.conversations.items.delete(ids[1]!, one)).toMatchObject({ id, object: 'conversation' });
  expect(await textsIn(id)).toEqual(['user:a', 'user:c']);
  expect(await refusalOf(client.conversations.items.retrieve(ids[1]!, one))).toEqual([
    404,
    'item_not_found',
    null,
  ]);
  expect(await refusalOf(client.conversations.items.delete(ids[1]!, one))).toEqual([
    404,
    'item_not_found',
    null,
  ]);
});

test('what is deleted is not found, and its responses stay', async () => {
  const { id } = await client.conversations.create();
  const response = await ask({ conversation: id });
  expect(await client.conversations.delete(id)).toEqual({
    id,
    object: 'conversation.deleted',
    deleted: true,
  });
  for (const asked of [
    client.conversations.retrieve(id),
    client.conversations.delete(id),
    client.conversations.items.list(id),
  ])
    expect(await refusalOf(asked)).toEqual([404, 'conversation_not_found', null]);
  expect(await client.responses.retrieve(response.id)).toMatchObject({ conversation: { id } });
  await ask({ input: 'on', previous_response_id: response.id });
  expect(lastPrompt()).toBe('user:xassistant:Hi é!user:on');
});

test('another key finds no conversation, and gets the error of one that never was', async () => {
  const { id } = await client.conversations.create({ items: [user('one')] });
  const item = (await client.conversations.items.list(id)).data[0]!.id!;
  const attempts = (of: string): PromiseLike<unknown>[] => [
    other.conversations.retrieve(of),
    other.conversations.update(of, { metadata: {} }),
    other.conversations.delete(of),
    other.conversations.items.create(of, { items: [user('x')] }),
    other.conversations.items.list(of),
    other.conversations.items.retrieve(item, { conversation_id: of }),
    other.conversations.items.delete(item, { conversation_id: of }),
    other.responses.create({ ...body, conversation: of }),
  ];
  const messageOf = async (asked: PromiseLike<unknown>): Promise<string> =>
    Promise.resolve(asked).then(
      () => 'no error',
      (error: unknown) => (error as Error).message.replaceAll(id, 'ID').replaceAll('conv_none', 'ID'),
    );
  const nowhere = await Promise.all(attempts('conv_none').map(messageOf));
  expect(nowhere.map((message) => message.slice(0, 3))).toEqual(Array(8).fill('404'));
  expect(await Promise.all(attempts(id).map(messageOf))).toEqual(nowhere);
  expect(await textsIn(id)).toEqual(['user:one']);
});

test('a prompt is counted with its conversation, which stays as it is', async () => {
  const { id } = await client.conversations.create({ items: [user('x')] });
  const count = async (asked: object): Promise<number> => {
    const answer = await server.post('/v1/responses/input_tokens', { ...body, ...asked }, bearer('free'));
    return ((await answer.json()) as { input_tokens: number }).input_tokens;
  };
  expect(await count({ conversation: id })).toBeGreaterThan(await count({}));
  expect(await textsIn(id)).toEqual(['user:x']);
});
