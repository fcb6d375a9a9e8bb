// Generations that do not end by themselves: the engine breaks, the client leaves, the server drains.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { events, streamEnd } from '../answers.fixture.js';
import { byteIds, endless, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

describe('a generation that breaks', () => {
  const fault = new FailureError('EngineFault', 'the engine process was lost');

  test('before the first byte is an HTTP error with the remedy', async () => {
    // eslint-disable-next-line require-yield
    server.script = async function* () {
      await sleep(1);
      throw fault;
    };
    const response = await server.chat({ stream: true });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({
      error: { code: 'EngineFault', message: expect.stringContaining('Send the request again') },
    });
  });

  test('after the first byte is an error event, and the stream ends without [DONE]', async () => {
    server.script = function* () {
      yield output(byteIds('a'));
      throw fault;
    };
    const chunks = await events(await server.chat({ stream: true }));
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'EngineFault' } });
  });

  test('a client that goes away frees its generation', async () => {
    server.script = endless;
    const response = await server.chat({ stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    expect(server.engine.open).toBe(1);
    await reader.cancel();
    while (server.engine.open > 0 || server.parts.admission.inFlight > 0) await sleep(10);
  });

  test('and so do those that wait behind it on its connection', async () => {
    server.script = endless;
    const body = JSON.stringify({ prompt: 'x', stream: true });
    const head = `POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${String(body.length)}\r\n\r\n`;
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write((head + body).repeat(3));
    await once(socket, 'data');
    while (server.engine.open < 3) await sleep(10);
    socket.destroy();
    while (server.engine.open > 0 || server.parts.admission.inFlight > 0) await sleep(10);
  });
});

describe('drain', () => {
  test('running generations finish; new ones are refused', async () => {
    server.script = async function* () {
      yield output(byteIds('a'));
      await sleep(200);
      yield output(byteIds('b'), 'length');
    };
    const running = await server.chat({ stream: true });
    const drained = server.http.drain(50_000);
    expect((await server.get('/healthz/ready')).status).toBe(503);
    expect((await server.chat({})).status).toBe(503);
    expect((await events(running)).at(-1)).toBe(streamEnd);
    await drained;
  });

  test('what does not finish in time ends with an error event', async () => {
    server.script = endless;
    const running = await server.chat({ stream: true });
    await server.http.drain(50);
    expect((await events(running)).at(-1)).toMatchObject({ error: { code: 'draining' } });
    expect(server.engine.open).toBe(0);
  });
});
