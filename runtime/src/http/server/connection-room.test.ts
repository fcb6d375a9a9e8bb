// A server whose connections, or whose bodies, are all that somebody else holds: byte by byte over plain sockets.

import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { makeApp } from '../app.js';
import { endless } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { selfSigned } from './certificate.fixture.js';
import { connectionLimits } from './connection-limits.js';
import { HttpServer } from './http-server.js';
import { RefusedConnections } from './refused-connections.js';

let server: ScriptedServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

interface Client {
  readonly socket: Socket;
  /** All that it was sent, once the server has closed. */
  readonly closed: Promise<string>;
}

async function dial(text = '', port = Number(new URL(server.url).port), isTls = false): Promise<Client> {
  const socket = isTls
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect({ port, host: '127.0.0.1' });
  sockets.push(socket);
  let received = '';
  socket.setEncoding('utf8').on('data', (part: string) => (received += part));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await once(socket, isTls ? 'secureConnect' : 'connect');
  socket.write(text);
  return { socket, closed };
}

function head(path: string, length = 0): string {
  const method = path.startsWith('/health') ? 'GET' : 'POST';
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${String(length)}\r\n\r\n`;
}

const isOpen = ({ socket }: Client): boolean => !socket.closed;
const settle = (): Promise<void> => sleep(100);

describe('at the bound of connections', () => {
  const stream = JSON.stringify({ prompt: 'x', max_tokens: 60, stream: true });

  async function busy(count: number): Promise<Client[]> {
    server.script = endless;
    const clients: Client[] = [];
    for (let i = 0; i < count; i++) clients.push(await dial(head('/v1/completions', stream.length) + stream));
    while (server.engine.open < count) await sleep(10);
    return clients;
  }

  test.each([
    ['plain', false],
    ['TLS', true],
  ])('the one that is idle longest is closed for a new one, and none at work: %s', async (_, isTls) => {
    server = await ScriptedServer.start({ maxConnections: 3 });
    server.script = endless;
    const tls = { folder: '/nowhere', files: { ...selfSigned, ca: undefined } };
    const other = isTls ? new HttpServer(makeApp(server.parts), server.parts, tls) : null;
    const port = await other?.listen('127.0.0.1', 0);
    const working = await dial(head('/v1/completions', stream.length) + stream, port, isTls);
    while (server.engine.open === 0) await sleep(10);
    const idle = [await dial('', port, isTls), await dial('', port, isTls)];
    await settle();
    const newcomer = await dial(head('/health'), port, isTls);
    expect(await idle[0]!.closed).toBe('');
    await once(newcomer.socket, 'data');
    expect([working, idle[1]!, newcomer].map(isOpen)).toEqual([true, true, true]);
    for (const socket of sockets.splice(0)) socket.destroy();
    await other?.close();
  });

  test('where all are at work a new one is refused, but for probes', async () => {
    server = await ScriptedServer.start({ maxConnections: 3 });
    const clients = await busy(3);
    const refused = await (await dial(head('/v1/completions', stream.length) + stream)).closed;
    expect(refused).toMatch(/^HTTP\/1\.1 503 .*server_busy/s);
    for (let i = 0; i < 100; i++) expect((await server.get('/healthz/live')).status).toBe(200);
    expect(clients.map(isOpen)).toEqual([true, true, true]);
    const { registry } = server.parts.metrics;
    const refusals = registry.getSingleMetric('llmservice_connections_refused_total')!;
    expect((await refusals.get()).values).toMatchObject([
      { labels: { how: 'busy' }, value: 1 },
      { labels: { how: 'dropped' }, value: 0 },
    ]);
    // As where connections come faster than they are closed.
    (server.http as unknown as { server: NetServer }).server.maxConnections = 3;
    expect(await (await dial()).closed).toBe('');
    const { values } = await refusals.get();
    expect(values[1]).toMatchObject({ labels: { how: 'dropped' }, value: 1 });
  });

  test('a flood of refusals is few lines of the log', async () => {
    const lines: object[] = [];
    const logger = { warn: (_: string, fields: object) => lines.push(fields) };
    const refused = new RefusedConnections(logger as never, () => undefined, 50);
    for (let i = 0; i < 1000; i++) refused.add('busy');
    refused.add('dropped');
    expect(lines).toEqual([{ busy: 1, dropped: 0 }]);
    await sleep(200);
    expect(lines.slice(1)).toEqual([{ busy: 999, dropped: 1 }]);
    refused.stop();
    server = await ScriptedServer.start();
  });

  test('bodies that hardly come make room', async () => {
    server = await ScriptedServer.start({ maxConnections: 2 });
    const half = [await dial(head('/v1/completions', 100)), await dial(head('/v1/completions', 100))];
    await sleep(2_100);
    expect((await server.post('/tokenize', { prompt: 'x' })).status).toBe(200);
    expect(await Promise.race(half.map(({ closed }) => closed))).toMatch(/^HTTP\/1\.1 503 .*server_busy/s);
  });
});

describe('bodies', () => {
  test('that fill their room hold up neither chats nor probes, and are cut off where they stall', async () => {
    server = await ScriptedServer.start({ maxBodyBytes: 2 ** 20, maxBodiesBytes: 4 * 2 ** 20 });
    const part = 'x'.repeat(2 ** 20 - 1);
    const floods: Client[] = [];
    for (let i = 0; i < 10; i++) floods.push(await dial(head('/v1/completions', 2 ** 20) + part));
    await settle();
    expect(server.parts.bodies.heldBytes).toBeLessThanOrEqual(4 * 2 ** 20);
    expect((await server.post('/tokenize', { prompt: 'x' })).status).toBe(200);
    expect((await server.get('/healthz/live')).status).toBe(200);
    await sleep(2_100);
    // A large one comes in their place.
    expect((await server.post('/tokenize', { prompt: 'x'.repeat(200_000) })).status).toBe(200);
    expect((await server.post('/tokenize', { prompt: 'x'.repeat(1_000_000) })).status).toBe(400);
  });

  test('give back their room, however they end', async () => {
    // It is the budget's own: a body that comes slowly is cut off only once it is short.
    const paces = { windowMs: 600_000, bytesPerSecond: 1000 };
    server = await ScriptedServer.start({
      limits: { ...connectionLimits, lookMs: 50 },
      bodyPaces: { least: paces, underPressure: paces },
    });
    const { socket } = await dial(head('/v1/completions', 50_000) + 'x'.repeat(1000));
    while (server.parts.bodies.heldBytes === 0) await sleep(10);
    socket.destroy();
    paces.windowMs = 100;
    const slow = await dial(head('/v1/completions', 50_000) + 'x'.repeat(1000));
    expect(await slow.closed).toMatch(/^HTTP\/1\.1 408 .*request_timeout/s);
    await server.post('/v1/completions', '{');
    await server.post('/v1/completions', 'x'.repeat(100_001));
    await server.post('/v1/completions', { prompt: 'x' });
    while (server.parts.bodies.heldBytes > 0) await sleep(10);
  });
});

test.each([
  ['host', 'Host: a\r\nhost: b'],
  ['authorization', 'Host: a\r\nAuthorization: Bearer a\r\nAUTHORIZATION: Bearer b'],
  ['x-api-key', 'Host: a\r\nX-Api-Key: a\r\nX-Api-Key: b'],
])('the header %s twice is refused', async (name, lines) => {
  server = await ScriptedServer.start();
  const { closed } = await dial(`GET /v1/models HTTP/1.1\r\n${lines}\r\nconnection: close\r\n\r\n`);
  const answer = await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain(`the request has the header ${name} more than once`);
});
