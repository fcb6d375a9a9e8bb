// A prefill pod's port for decode pods, before an engine that follows a script.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { askPrefill, endTicket } from '../disaggregation/ask-prefill.js';
import { ticketMs } from '../disaggregation/offers.js';
import { askText, prefillPath, type PrefillAsk } from '../disaggregation/prefill-ask.js';
import { ask } from '../disaggregation/prefill-ask.fixture.js';
import { makePrefillApp } from './prefill-app.js';
import { makeApp } from './app.js';
import { endless, output, type Script } from './scripted-engine.fixture.js';
import { ScriptedServer } from './scripted-server.fixture.js';
import { HttpServer } from './server/http-server.js';

const patient = { connectMs: 30_000, silentMs: 30_000 };
const never = new AbortController().signal;
const host = '127.0.0.1';

let server: ScriptedServer;
let http: HttpServer;
let port: number;

async function listen(app: ReturnType<typeof makePrefillApp>): Promise<void> {
  http = new HttpServer(app, server.parts);
  port = await http.listen(host, 0);
}

beforeEach(async () => {
  server = await ScriptedServer.start();
  await listen(makePrefillApp({ server: server.parts, transferPort: 8040 }));
});

afterEach(async () => {
  await http.close();
  await server.stop();
});

const offered = { blocks: 3, snapshot: true, tokens: 80 };
/** As the engine answers: a token, and at the end what it offers. */
const computes: Script = () => [{ ...output([5], 'length'), offered }];
const asks = (changes: Partial<PrefillAsk> = {}, signal = never) =>
  askPrefill({ host, port }, { ...ask, ...changes }, signal, patient);

async function send(body: string): Promise<{ status: number; error: { param: string; message: string } }> {
  const response = await fetch(`http://${host}:${String(port)}${prefillPath}`, { method: 'POST', body });
  return { status: response.status, ...((await response.json()) as { error: never }) };
}

/** Resolves once it holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('a prompt is computed, and held under a ticket until that is ended', async () => {
  server.engine.script = computes;
  const answer = await asks();
  const [{ id, ...request }] = server.engine.requests as [(typeof server.engine.requests)[0]];
  expect(answer).toEqual({ ticket: id, port: 8040, ...offered, cachedTokens: 2 });
  const { prompt, boundaries, fairnessKey, priority, maxQueueMs } = ask;
  expect(request).toMatchObject({ prompt, boundaries, fairnessKey, priority, maxQueueMs });
  expect(request).toMatchObject({ offerFrom: 2, maxTokens: 1, pooling: 'none', cacheSalt: null });
  expect(server.parts.admission.inFlight).toBe(1);
  await endTicket({ host, port }, answer.ticket);
  expect(server.engine.withdrawn).toEqual([answer.ticket]);
  expect(server.parts.admission.inFlight).toBe(0);
  await endTicket({ host, port }, answer.ticket);
  expect(server.engine.withdrawn).toHaveLength(1);
});

test('the engine is the first to end a ticket that nobody fetches', async () => {
  jest.useFakeTimers({
    doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'],
  });
  try {
    server.engine.script = computes;
    const { ticket } = await asks();
    jest.advanceTimersByTime(ticketMs + 2_000);
    expect(server.engine.withdrawn).toEqual([]);
    jest.advanceTimersByTime(3_000);
    expect(server.engine.withdrawn).toEqual([ticket]);
    expect(server.parts.admission.inFlight).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('the asker’s end is that of the computation', async () => {
  server.engine.script = endless;
  const asker = new AbortController();
  const asked = asks({}, asker.signal);
  await until(() => server.engine.open === 1);
  asker.abort();
  await expect(asked).rejects.toThrow();
  await until(() => server.engine.open === 0 && server.parts.admission.inFlight === 0);
});

test('prompts beyond the room of the pod are refused before they are read', async () => {
  server.engine.script = endless;
  const asker = new AbortController();
  const running = Array.from({ length: 8 }, () => asks({}, asker.signal).catch(() => undefined));
  await until(() => server.engine.open === 8);
  await expect(asks()).rejects.toMatchObject({ reason: 'busy' });
  asker.abort();
  await Promise.all(running);
});

test('what the engine refuses is the last line of the answer', async () => {
  server.engine.script = () => {
    throw new Error('what nobody is to know');
  };
  await expect(asks()).rejects.toMatchObject({ reason: 'refused' });
  await expect(asks()).rejects.not.toThrow('what nobody');
  expect(server.parts.admission.inFlight).toBe(0);
});

describe('a body is held to its fields', () => {
  test.each<[string, Partial<Record<keyof PrefillAsk, unknown>>, string]>([
    ['another layout', { layout: 'another' }, 'layout'],
    ['a token of another vocabulary', { prompt: 'LAEAAA==' }, 'prompt'],
    ['no start', { from: null }, 'from'],
  ])('%s is refused', async (_, changes, param) => {
    const body = JSON.stringify({ ...(JSON.parse(askText(ask)) as object), ...changes });
    expect(await send(body)).toMatchObject({ status: 400, error: { param } });
    expect(server.engine.requests).toEqual([]);
  });

  test('one that is too large is not read to its end', async () => {
    expect((await send(`"${'x'.repeat(200_000)}"`)).status).toBe(413);
  });
});

test('a pod that shuts down takes none, and waits for those that are to be fetched', async () => {
  server.engine.script = computes;
  const { ticket } = await asks();
  const draining = server.http.drain(30_000);
  await expect(asks()).rejects.toMatchObject({ reason: 'busy' });
  let drained = false;
  void draining.then(() => (drained = true));
  await sleep(100);
  expect(drained).toBe(false);
  await endTicket({ host, port }, ticket);
  await draining;
});

test('a prefill pod answers no client, but probes and scrapes', async () => {
  await http.close();
  await listen(makeApp(server.parts, { computesForOthers: true }));
  const get = (path: string) => fetch(`http://${host}:${String(port)}${path}`);
  expect((await get('/health')).status).toBe(200);
  expect((await get('/metrics')).status).toBe(200);
  const response = await fetch(`http://${host}:${String(port)}/v1/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'tiny', prompt: 'x' }),
  });
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('send it to the service');
  expect(server.engine.requests).toEqual([]);
});
