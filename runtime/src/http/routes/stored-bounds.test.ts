// What a client may take of the server by what is stored: a few bytes of a request stand for as many as it refers to.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { bearer, keys } from '../access/keyed-server.fixture.js';
import { body } from '../protocols/responses.fixture.js';
import { endless } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallStore } from '../stored-responses/stored-response.fixture.js';

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({
    tools: true,
    access: { keys },
    storedResponses: smallStore(),
    maxBodyBytes: 3_000,
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'secret-free', maxRetries: 0 });
});
afterEach(() => server.stop());

const refer = (id: string | null | undefined): object => ({ type: 'item_reference', id });
const post = (asked: object): Promise<Response> =>
  server.post('/v1/responses', { ...body, ...asked }, bearer('free'));

async function refusalOf(answer: Response): Promise<unknown> {
  const { error } = (await answer.json()) as { error: { code: string; param: string | null } };
  return [answer.status, error.code, error.param];
}

async function untilNothingIsHeld(): Promise<void> {
  while (server.parts.bodies.heldBytes > 0) await sleep(5);
}

test('an item is referred to once', async () => {
  const { output } = await client.responses.create(body);
  const { id } = output[0]!;
  const answer = await post({ input: [refer(id), refer(id), refer('msg_1'), refer(id)] });
  expect(await refusalOf(answer)).toEqual([400, 'invalid_request', 'input.1']);
});

test.each([false, true])(
  'what a request refers to is bounded as a body is, and held as long; in the background: %s',
  async (background) => {
    const long = async () =>
      (await client.responses.create({ ...body, metadata: { note: 'x'.repeat(400) } })).output[0]!.id;
    const ids = await Promise.all([long(), long(), long()]);
    const answer = await post({ input: ids.map(refer), background });
    expect(await refusalOf(answer)).toEqual([413, 'request_too_large', null]);
    expect((await post({ input: [refer(ids[0])], background })).status).toBe(200);
    await untilNothingIsHeld();
  },
);

test('a conversation is bounded as a body is, and held as long', async () => {
  const items = [{ role: 'user' as const, content: 'x'.repeat(1_500) }];
  const { id } = await client.conversations.create({ items });
  expect((await post({ conversation: id })).status).toBe(200);
  await untilNothingIsHeld();
  await client.conversations.items.create(id, { items });
  expect(await refusalOf(await post({ conversation: id }))).toEqual([413, 'request_too_large', null]);
  const added = client.conversations.items.create(id, { items });
  await expect(added).rejects.toMatchObject({ status: 413, code: 'request_too_large' });
  await untilNothingIsHeld();
});

test('a key that follows one response again and again leaves others their answers', async () => {
  server.script = endless;
  const { id } = await client.responses.create({ ...body, background: true });
  const streamed = await client.responses.create({ ...body, background: true, stream: true });
  const first = await streamed[Symbol.asyncIterator]().next();
  const { response } = first.value as OpenAI.Responses.ResponseCreatedEvent;
  const follow = (): Promise<Response> =>
    server.get(`/v1/responses/${response.id}?stream=true`, bearer('free'));
  const answers = await Promise.all(Array.from({ length: 20 }, follow));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(10);
  expect(answers.filter(({ status }) => status === 200).length).toBe(20 - refused.length);
  expect(server.parts.admission.inFlight).toBeLessThan(server.parts.admission.limit);
  await client.responses.cancel(response.id);
  await client.responses.cancel(id);
  await Promise.all(answers.map((answer) => answer.text()));
  expect(server.parts.admission.inFlight).toBe(0);
});

test.each([
  '__proto__',
  'constructor',
  encodeURIComponent('../../etc/passwd'),
  encodeURIComponent('resp_\0'),
  encodeURIComponent('"><script>'),
  'resp_*',
  'x'.repeat(8_000),
])('the id %s is one that was never there', async (id) => {
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/input_items'],
    ['DELETE', ''],
    ['POST', '/cancel'],
  ] as const) {
    const url = `${server.url}/v1/responses/${id}${path}`;
    const answer = await fetch(url, { method, headers: bearer('free') });
    expect(await refusalOf(answer)).toEqual([404, 'response_not_found', null]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  }
  for (const [method, path, sent] of [
    ['GET', '', null],
    ['POST', '', '{"metadata": null}'],
    ['DELETE', '', null],
    ['GET', '/items', null],
    ['POST', '/items', '{"items": [{"role": "user", "content": "x"}]}'],
    ['GET', `/items/${id}`, null],
    ['DELETE', `/items/${id}`, null],
  ] as const) {
    const url = `${server.url}/v1/conversations/${id}${path}`;
    const answer = await fetch(url, { method, body: sent, headers: bearer('free') });
    expect(await refusalOf(answer)).toEqual([404, 'conversation_not_found', null]);
  }
});
