// Against a real server, which behaves as each test says.

import { afterEach, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askPrefill, endTicket, type AskLimits } from './ask-prefill.js';
import { answer, ask } from './prefill-ask.fixture.js';

let server: Server | null = null;

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  server = createServer(handle);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const patient: AskLimits = { connectMs: 30_000, silentMs: 30_000 };
const never = new AbortController().signal;

test('an answer comes behind the lines that say that the pod is alive', async () => {
  let body = '';
  const pod = await serve((request, response) => {
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      response.write('\n');
      response.write('\n\n');
      response.end(`${JSON.stringify(answer)}\n`);
    });
  });
  expect(await askPrefill(pod, ask, never, patient)).toEqual(answer);
  expect(JSON.parse(body)).toMatchObject({ layout: 'the same', from: 2, prompt: 'AQAAACsBAAAHAAAA' });
});

test.each<[string, number, object, string]>([
  ['takes no more', 503, { code: 'queue_full', message: 'full' }, 'busy'],
  ['shuts down', 503, { code: 'draining', message: 'bye' }, 'busy'],
  ['has had it wait too long', 200, { code: 'QueueTimeout', message: 'late' }, 'busy'],
  ['does not take it', 400, { code: 'invalid_request', message: 'bad', param: 'prompt' }, 'refused'],
  ['has other blocks', 400, { code: 'invalid_request', message: 'bad', param: 'layout' }, 'layoutDiffers'],
])('a pod that %s is heard', async (_, status, error, reason) => {
  const pod = await serve((_request, response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ error }));
  });
  await expect(askPrefill(pod, ask, never, patient)).rejects.toMatchObject({ reason });
});

test.each<[string, string]>([
  ['is none', 'hello'],
  ['lacks a field', JSON.stringify({ ...answer, blocks: undefined })],
  ['counts in fractions', JSON.stringify({ ...answer, tokens: 1.5 })],
  ['does not end', 'x'.repeat(100_000)],
])('an answer that %s is not taken', async (_, text) => {
  const pod = await serve((_request, response) => response.end(text));
  await expect(askPrefill(pod, ask, never, patient)).rejects.toMatchObject({ reason: 'badAnswer' });
});

test('a pod that nobody answers for is given up', async () => {
  const { host, port } = await serve(() => undefined);
  server!.close();
  await expect(askPrefill({ host, port }, ask, never, patient)).rejects.toMatchObject({
    reason: 'unreachable',
  });
});

test('a pod that ends in the midst of its answer is given up at once', async () => {
  const pod = await serve((request, response) => {
    response.write('\n');
    request.resume().on('end', () => response.socket!.destroy());
  });
  await expect(askPrefill(pod, ask, never, patient)).rejects.toMatchObject({ reason: 'unreachable' });
});

test('a pod that falls silent is given up, and hears of it', async () => {
  let gone: () => void = () => undefined;
  const left = new Promise<void>((resolve) => (gone = resolve));
  const pod = await serve((_request, response) => {
    response.write('\n');
    response.on('close', gone);
  });
  await expect(askPrefill(pod, ask, never, { connectMs: 30_000, silentMs: 50 })).rejects.toMatchObject({
    reason: 'timedOut',
  });
  await left;
});

test('a pod hears that nobody waits any more', async () => {
  const asker = new AbortController();
  let gone: () => void = () => undefined;
  const left = new Promise<void>((resolve) => (gone = resolve));
  const pod = await serve((_request, response) => {
    response.on('close', gone);
    response.write('\n');
    asker.abort();
  });
  await expect(askPrefill(pod, ask, asker.signal, patient)).rejects.toThrow();
  await left;
});

test('a ticket is ended by its name, and nobody minds if there is none', async () => {
  const seen: string[] = [];
  const pod = await serve(({ method, url }, response) => {
    seen.push(`${method!} ${url!}`);
    response.statusCode = 404;
    response.end();
  });
  await endTicket(pod, 'a/b', patient);
  expect(seen).toEqual(['DELETE /internal/prefill/a%2Fb']);
});
