// Responses that are stored, as OpenAI's own client stores, continues, lists and deletes them.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { bearer, keys } from '../access/keyed-server.fixture.js';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { body, tools } from '../protocols/responses.fixture.js';
import { byteIds, output, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallStore } from '../stored-responses/stored-response.fixture.js';

let server: ScriptedServer;
let now: number;
/** Of the key `free`, and of another. */
let client: OpenAI;
let other: OpenAI;
beforeEach(async () => {
  now = 0;
  server = await ScriptedServer.start({
    tools: true,
    access: { keys },
    storedResponses: smallStore(() => now, 3),
  });
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

const errorOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => 'no error',
    (error: unknown) => error,
  );

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

describe.each([false, true])('streamed: %s, a response', (stream) => {
  test('is fetched as it was answered', async () => {
    const made = await ask({ metadata: { a: 'b' }, instructions: 'Be brief.' }, stream);
    expect(made).toMatchObject({ store: true, background: false, previous_response_id: null });
    const { output, ...fetched } = await client.responses.retrieve(made.id);
    expect(fetched).toMatchObject({ status: 'completed', output_text: 'Hi é!', instructions: 'Be brief.' });
    // The client adds what it parsed to a stream’s.
    expect(made).toMatchObject({ ...fetched, output: output.map((item) => ({ ...item })) });
  });

  test('is continued by its id, without its instructions', async () => {
    const first = await ask({ input: 'one', instructions: 'Be brief.' }, stream);
    const second = await ask({ input: 'two', previous_response_id: first.id }, stream);
    expect(second.previous_response_id).toBe(first.id);
    const items = [{ role: 'user' as const, content: [{ type: 'input_text' as const, text: 'three' }] }];
    await ask({ input: items, previous_response_id: second.id, instructions: 'Be long.' }, stream);
    expect(lastPrompt()).toBe('system:Be long.user:oneassistant:Hi é!user:twoassistant:Hi é!user:three');
  });

  test('is continued with the results of its calls', async () => {
    server.script = thinksAndCalls;
    const { id, output: answered } = await ask({ tools }, stream);
    const results = answered.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: `${item.name} of it` }]
        : [],
    );
    await ask({ tools, input: results, previous_response_id: id }, stream);
    expect(lastPrompt().replace(/call_[0-9a-f]+/g, 'ID')).toBe(
      'user:xassistant:I look.[weather {"city": "Zürich"}][time {"city": "Bern"}]' +
        'tool(ID):weather of ittool(ID):time of it2 tools',
    );
  });

  test('that was cut is stored as it is', async () => {
    server.script = () => [output(byteIds('Hi')), output([], 'length')];
    const { id } = await ask({}, stream);
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'incomplete', output_text: 'Hi' });
  });

  test('that is not to be stored is not', async () => {
    const { id, store } = (await ask({ store: false }, stream)) as { id: string; store?: boolean };
    expect(store).toBe(false);
    expect(await errorOf(client.responses.retrieve(id))).toBeInstanceOf(NotFoundError);
  });
});

test('a response is continued by references to its items, as Vercel’s client does', async () => {
  const first = await ask({ input: 'one' });
  const second = await ask({ input: 'two', previous_response_id: first.id });
  const refer = (item: { id?: string | null }) => ({ type: 'item_reference' as const, id: item.id! });
  const input = [
    { role: 'user' as const, content: 'one' },
    refer(first.output[0]!),
    { role: 'user' as const, content: 'two' },
    refer(second.output[0]!),
    { role: 'user' as const, content: 'three' },
  ];
  await ask({ input });
  expect(lastPrompt()).toBe('user:oneassistant:Hi é!user:twoassistant:Hi é!user:three');
  expect(await errorOf(ask({ input: [refer({ id: 'msg_1' })] }))).toMatchObject({
    status: 400,
    param: 'input.0',
  });
});

test('its input is listed whole, in pages and both orders', async () => {
  const first = await ask({ input: 'one' });
  const { id } = await ask({ input: 'two', previous_response_id: first.id });
  const newest = await client.responses.inputItems.list(id, { limit: 2 });
  expect(newest.data).toMatchObject([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'two' }] },
    { id: first.output[0]!.id, role: 'assistant', content: [{ type: 'output_text', text: 'Hi é!' }] },
  ]);
  expect(newest.has_more).toBe(true);
  const all = [];
  for await (const item of client.responses.inputItems.list(id, { limit: 2, order: 'asc' })) all.push(item);
  expect(all.map((item) => item.id)).toEqual([
    expect.stringMatching(/^msg_/),
    newest.data[1]!.id,
    newest.data[0]!.id,
  ]);
});

test('what is deleted is not found, and does not continue; what continued it still does', async () => {
  const first = await ask({ input: 'one' });
  const second = await ask({ input: 'two', previous_response_id: first.id });
  await client.responses.delete(first.id);
  const gone = await errorOf(client.responses.retrieve(first.id));
  expect(gone).toBeInstanceOf(NotFoundError);
  expect(gone).toMatchObject({ code: 'response_not_found' });
  expect(await errorOf(client.responses.delete(first.id))).toBeInstanceOf(NotFoundError);
  const refused = await errorOf(ask({ previous_response_id: first.id }));
  expect(refused).toBeInstanceOf(BadRequestError);
  expect(refused).toMatchObject({ code: 'previous_response_not_found', param: 'previous_response_id' });
  await ask({ previous_response_id: second.id });
  expect(lastPrompt()).toContain('user:one');
});

test('another key finds nothing, and gets the error of one that never was', async () => {
  const { id } = await ask({});
  const withoutId = (error: unknown, of: string): string => (error as Error).message.replaceAll(of, 'ID');
  const attempts = (key: OpenAI, of: string): Promise<string>[] =>
    [
      key.responses.retrieve(of),
      key.responses.inputItems.list(of),
      key.responses.cancel(of),
      key.responses.delete(of),
      key.responses.create({ ...body, previous_response_id: of }),
    ].map(async (promise) => withoutId(await errorOf(promise), of));
  const nowhere = await Promise.all(attempts(client, 'resp_none'));
  expect(nowhere.map((error) => error.slice(0, 3))).toEqual(['404', '404', '404', '404', '400']);
  expect(await Promise.all(attempts(other, id))).toEqual(nowhere);
  expect(await client.responses.retrieve(id)).toMatchObject({ id });
});

test('another key that stores much evicts its own, and what is evicted is not found', async () => {
  const { id } = await ask({});
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await other.responses.create(body)).id);
  expect(await client.responses.retrieve(id)).toMatchObject({ id });
  expect(await errorOf(other.responses.retrieve(ids[0]!))).toBeInstanceOf(NotFoundError);
  expect(await other.responses.retrieve(ids[4]!)).toMatchObject({ id: ids[4] });
  now = 1_000;
  expect(await errorOf(client.responses.retrieve(id))).toBeInstanceOf(NotFoundError);
});

test('a prompt is counted with what it continues', async () => {
  const count = async (asked: object): Promise<number> => {
    const answer = await server.post('/v1/responses/input_tokens', { ...body, ...asked }, bearer('free'));
    return ((await answer.json()) as { input_tokens: number }).input_tokens;
  };
  const { id, usage } = await ask({});
  expect(await count({ previous_response_id: id })).toBe(
    (await count({})) * 2 + 'assistant:Hi é!'.length + 1,
  );
  expect(usage!.input_tokens).toBe(await count({}));
});

test('reasoning is encoded where the client asks for it, whoever else did not', async () => {
  const { thinkBegin, thinkEnd } = ScriptedServer.markers;
  server.script = scriptOf(thinkBegin, 'Hm.', thinkEnd, 'Hi');
  const { id } = await ask({});
  const sealedIn = (items: readonly object[]): unknown[] =>
    items.flatMap((item) => ('encrypted_content' in item ? [item.encrypted_content] : []));
  const include: ['reasoning.encrypted_content'] = ['reasoning.encrypted_content'];
  const plain = await client.responses.retrieve(id);
  expect(sealedIn(plain.output)).toEqual([null]);
  const sealed = await client.responses.retrieve(id, { include });
  expect(sealedIn(sealed.output)).toEqual([expect.stringMatching(/^llmservice-reasoning-1:./)]);
  expect(sealed.output.map(({ type }) => type)).toEqual(plain.output.map(({ type }) => type));
  const next = await ask({ input: 'on', previous_response_id: id });
  const { data } = await client.responses.inputItems.list(next.id, { include });
  expect(sealedIn(data)).toEqual(sealedIn(sealed.output));
});

test('what fails on its way is not stored', async () => {
  server.script = function* () {
    yield output(byteIds('Hi'));
    throw new Error('secret');
  };
  const { id, status } = await ask({}, true);
  expect(status).toBe('failed');
  expect(await errorOf(client.responses.retrieve(id))).toBeInstanceOf(NotFoundError);
});

test.each([
  ['?stream=true', 'stream', 'created with background: true and stream: true'],
  ['?stream=yes', 'stream', 'stream must be true or false'],
  ['?starting_after=3', 'starting_after', 'needs stream=true'],
  ['?stream=true&starting_after=-1', 'starting_after', 'must be a whole number from 0'],
  ['?include[]=a', 'include', 'must be some of reasoning.encrypted_content, message.output_text.logprobs'],
  ['?include=reasoning.encrypted_content&include=b', 'include', 'must be some of'],
  ['?stream=true&include[]=reasoning.encrypted_content', 'include', 'needs stream=false'],
  ['?metadata[]=a', 'metadata[]', 'is not a known parameter'],
  ['/input_items?limit=101', 'limit', 'must be a whole number from 1 to 100'],
  ['/input_items?order=up', 'order', 'must be asc or desc'],
  ['/input_items?after=msg_1', 'after', 'is the id of no item'],
])('%s is refused', async (path, param, message) => {
  const { id } = await ask({});
  const answer = await server.get(`/v1/responses/${id}${path}`, bearer('free'));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param, message: expect.stringContaining(message) } });
});

test('where nothing is stored, nothing is found, and the error says how it would be', async () => {
  const without = await ScriptedServer.start();
  without.script = says('Hi');
  try {
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['GET', '/input_items'],
    ] as const) {
      const answer = await fetch(`${without.url}/v1/responses/resp_1${path}`, { method });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        error: { code: 'response_not_found', message: expect.stringContaining('--stored-responses-bytes') },
      });
    }
  } finally {
    await without.stop();
  }
});
