// Responses that run in the background, as OpenAI's own client polls, streams, resumes and cancels them.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { BadRequestError, NotFoundError, type OpenAI } from 'openai';
import { body, responsesClient } from '../protocols/responses.fixture.js';
import { byteIds, endless, output, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallStore } from '../stored-responses/stored-response.fixture.js';

let server: ScriptedServer;
let client: OpenAI;
let open: () => void;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true, storedResponses: smallStore() });
  client = responsesClient(server);
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  server.script = waitsFor(gate);
});
afterEach(async () => {
  open();
  await server.stop();
});

/** Says one thing, waits, and says another. */
const waitsFor = (gate: Promise<void>): Script =>
  async function* () {
    yield output(byteIds('Hi'));
    await gate;
    yield output(byteIds(' é!'));
    yield { ...output([]), finish: 'stop', stopToken: 2 };
  };

type Response = OpenAI.Responses.Response;
type Event = OpenAI.Responses.ResponseStreamEvent;

const start = (change: object = {}): Promise<Response> =>
  client.responses.create({
    ...body,
    background: true,
    ...change,
  } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
const startStream = () => client.responses.create({ ...body, background: true, stream: true });

async function poll(id: string, until: (response: Response) => boolean): Promise<Response> {
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (until(response)) return response;
    await sleep(5);
  }
}
const whole = (id: string): Promise<Response> =>
  poll(id, ({ status }) => status !== 'queued' && status !== 'in_progress');

const errorOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => 'no error',
    (error: unknown) => error,
  );

const all = async (stream: AsyncIterable<Event>): Promise<Event[]> => {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

test('a response is queued at once, in progress while it is written, and completed', async () => {
  const queued = await start();
  expect(queued).toMatchObject({ status: 'queued', background: true, store: true, output: [], usage: null });
  const { id } = queued;
  const running = await poll(id, ({ status }) => status === 'in_progress');
  expect(running).toMatchObject({ id, output_text: 'Hi', usage: null });
  const refused = await errorOf(client.responses.create({ ...body, previous_response_id: id }));
  expect(refused).toMatchObject({ status: 400, param: 'previous_response_id' });
  open();
  const { usage, ...ended } = await whole(id);
  expect(ended).toMatchObject({ id, status: 'completed', background: true, output_text: 'Hi é!' });
  expect(usage!.output_tokens).toBeGreaterThan(0);
  await client.responses.create({ ...body, previous_response_id: id });
  const record = server.ended.find((each) => each.id === id);
  expect(record).toMatchObject({ status: 200, errorCode: null, admitted: true });
});

test('a stream that its client leaves is resumed where it was, while it runs and after', async () => {
  const first: Event[] = [];
  const left = await startStream();
  for await (const event of left) {
    first.push(event);
    if (event.type === 'response.output_text.delta') break;
  }
  left.controller.abort();
  expect(first.slice(0, 3).map(({ type }) => type)).toEqual([
    'response.created',
    'response.queued',
    'response.in_progress',
  ]);
  expect(first[0]).toMatchObject({ response: { status: 'queued' } });
  const { id } = (first[0] as OpenAI.Responses.ResponseCreatedEvent).response;
  const starting_after = first.at(-1)!.sequence_number;
  const resumed = all(
    await client.responses.retrieve(id, { stream: true, starting_after }, { timeout: 50_000 }),
  );
  open();
  const events = [...first, ...(await resumed)];
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { status: 'completed', output: [{ content: [{ text: 'Hi é!' }] }] },
  });
  await whole(id);
  expect(await all(await client.responses.retrieve(id, { stream: true }))).toEqual(events);
  const helper = client.responses.stream({ response_id: id, starting_after });
  expect((await helper.finalResponse()).output_text).toBe('Hi é!');
});

test.each([false, true])(
  'a response is cancelled, once or twice, and its work ends; streamed: %s',
  async (stream) => {
    server.script = endless;
    const { id } = await start({ stream: false });
    const events = stream ? await startStream() : null;
    await poll(id, ({ status }) => status === 'in_progress');
    for (let i = 0; i < 2; i++) {
      const cancelled = await client.responses.cancel(id);
      expect(cancelled).toMatchObject({
        id,
        status: 'cancelled',
        error: null,
        output: [{ status: 'incomplete' }],
      });
    }
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
    if (events !== null) {
      const iterator = events[Symbol.asyncIterator]();
      const created = (await iterator.next()).value as OpenAI.Responses.ResponseCreatedEvent;
      await client.responses.cancel(created.response.id);
      let last: Event | undefined;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        last = next.value;
      expect(last).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } });
    }
    expect(server.engine.open).toBe(0);
    expect(server.parts.admission.inFlight).toBe(0);
  },
);

test('a response that fails says so to whoever comes for it', async () => {
  server.script = function* () {
    yield output(byteIds('Hi'));
    throw new Error('secret');
  };
  const { id } = await start();
  expect(await whole(id)).toMatchObject({
    status: 'failed',
    output_text: 'Hi',
    error: { code: 'server_error', message: expect.not.stringContaining('secret') },
  });
  const refused = await errorOf(client.responses.create({ ...body, previous_response_id: id }));
  expect(refused).toMatchObject({ status: 400, param: 'previous_response_id' });
});

test('a response that is deleted while it runs is cancelled', async () => {
  server.script = endless;
  const { id } = await start();
  await client.responses.delete(id);
  expect(server.engine.open).toBe(0);
  expect(await errorOf(client.responses.retrieve(id))).toBeInstanceOf(NotFoundError);
});

test('what cannot run is refused as a request that waits for its answer is', async () => {
  const cases: [object, string][] = [
    [{ store: false }, 'background'],
    [{ input: 'x'.repeat(5000) }, 'input'],
    [{ surprise: 1 }, 'surprise'],
    [{ previous_response_id: 'resp_none' }, 'previous_response_id'],
  ];
  for (const [change, param] of cases)
    for (const stream of [false, true])
      expect(await errorOf(start({ ...change, stream }))).toMatchObject({ status: 400, param });
  expect(server.parts.bodies.heldBytes).toBe(0);
});

test('a response that is waited for cannot be cancelled', async () => {
  open();
  const { id } = await client.responses.create(body);
  expect(await errorOf(client.responses.cancel(id))).toBeInstanceOf(BadRequestError);
});

test('one of many that its events leave no room for fails, and frees what it held', async () => {
  await server.stop();
  server = await ScriptedServer.start({
    tools: true,
    storedResponses: smallStore(),
    maxBodyBytes: 7_000,
    maxBodiesBytes: 8_000,
  });
  client = responsesClient(server);
  server.script = endless;
  const events = await all(await startStream());
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { llmservice_code: expect.stringMatching(/^(server_busy|rate_limit_exceeded)$/) },
    },
  });
  expect(server.parts.bodies.heldBytes).toBe(0);
});

test('through a gateway that counts tokens is refused: nobody would learn what it took', async () => {
  const sent = { ...body, background: true };
  const refused = await server.post('/v1/responses', sent, { 'x-llmservice-usage': 'report' });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { code: 'invalid_request', param: 'background' } });
});
