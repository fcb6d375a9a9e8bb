import { once } from 'node:events';
import * as http from 'node:http';
import * as net from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Activator } from './activator.js';
import type { PodIdentity } from '../watch/ask-pod.js';
import type { Place } from './directory.js';

const key = 'ns/demo';
const mib = 2 ** 20;
const servers: net.Server[] = [];
const sockets = new Set<net.Socket>();
let activator: Activator;
let port: number;
/** The pods of the service; none: it is asleep. */
let pods: string[];
let identity: PodIdentity | null;

async function listen(server: net.Server, at = 0): Promise<string> {
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  servers.push(server);
  server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as net.AddressInfo).port)}`;
}

const pod = (handler: http.RequestListener): Promise<string> => listen(http.createServer(handler));
/** A pod that answers any request with these bytes. */
const rawPod = (answer: (socket: net.Socket) => void): Promise<string> =>
  listen(
    net.createServer((socket) => socket.on('error', () => undefined).once('data', () => answer(socket))),
  );
const wellPod = (): Promise<string> => pod((request, response) => void echo(request, response));

async function echo(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  response.end(`${request.url ?? ''} ${await text(request)}`);
}

/** Where nobody listens. */
async function deadUrl(): Promise<string> {
  const server = net.createServer();
  const url = await listen(server);
  server.close();
  await once(server, 'close');
  return url;
}

async function post(body: string | Buffer, path = '/v1/x'): Promise<{ status: number; body: string }> {
  const request = http.request({ host: '127.0.0.1', port, method: 'POST', path, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function wake(...urls: string[]): void {
  pods = urls;
  activator.changed(key);
}

beforeEach(async () => {
  pods = [];
  identity = null;
  const place = (): Place => {
    const timeoutMs = 60_000;
    return pods.length === 0
      ? { state: 'waiting', timeoutMs }
      : { state: 'ready', urls: pods, identity, timeoutMs };
  };
  activator = new Activator({
    directory: { find: () => key, place },
    waker: { wake: () => Promise.resolve() },
    limits: {
      ...{ perService: 100, total: 100 },
      ...{ bytesPerService: 16 * mib + 1_000, totalBytes: 64 * mib, bodyBytes: 20 * mib },
    },
    onForwarded: () => undefined,
    onRefused: () => undefined,
  });
  const server = http.createServer((request, response) => void activator.handle(request, response));
  port = Number(new URL(await listen(server)).port);
});

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await activator.drain({ heldMs: 0, answersMs: 0 });
});

describe('a pod', () => {
  test.each([
    ['status 000', 'HTTP/1.1 000 x\r\ncontent-length: 0\r\n\r\n'],
    ['status 099', 'HTTP/1.1 099 x\r\ncontent-length: 0\r\n\r\n'],
    ['status 600', 'HTTP/1.1 600 x\r\ncontent-length: 3\r\n\r\nabc'],
    ['another protocol', 'HTTP/1.1 101 x\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
    ['a header that is none', 'HTTP/1.1 200 OK\r\nx: a\x01b\r\ncontent-length: 0\r\n\r\n'],
  ])('that answers with %s is reported as a failure', async (_, answer) => {
    wake(await rawPod((socket) => socket.write(answer)));
    const { status, body } = await post('{}');
    expect([status, body]).toEqual([502, expect.stringContaining('"code":"upstream_failed"')]);
  });

  test('gets every other request', async () => {
    const seen: string[] = [];
    const named = (name: string): Promise<string> =>
      pod((request, response) => {
        seen.push(name);
        request.resume();
        response.end();
      });
    wake(await named('a'), await named('b'));
    for (let each = 0; each < 4; each += 1) await post('{}');
    expect(seen.join('')).toBe('abab');
  });

  test('that refuses connections costs no request, in the order of their coming', async () => {
    const answers = [];
    for (let each = 0; each < 5; each += 1) {
      answers.push(post(String(each)));
      await until(() => activator.held === each + 1);
    }
    const dead = await deadUrl();
    wake(dead);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(activator.held).toBe(5);
    wake(dead, await wellPod());
    expect(await Promise.all(answers)).toEqual(
      answers.map((_, each) => ({ status: 200, body: `/v1/x ${String(each)}` })),
    );
  });

  test('that takes nothing in keeps nobody else waiting', async () => {
    const idle = await listen(net.createServer((socket) => socket.pause().on('error', () => undefined)));
    const stuck = post(Buffer.alloc(16 * mib));
    stuck.catch(() => undefined);
    await until(() => activator.held === 1);
    wake(idle);
    await until(() => activator.held === 0);
    wake(await wellPod());
    expect((await post('{}')).status).toBe(200);
  });

  test('sees the path as it came', async () => {
    wake(await wellPod());
    for (const path of ['/v1/%2e%2e/metrics', '/v1/../metrics', '//metrics', '/v1\\x?a=b#c']) {
      expect((await post('', path)).body).toBe(`${path} `);
      expect((await post('', `http://demo.ns.svc${path}`)).body).toBe(`${path} `);
    }
  });

  test('reports through it to a router what a stream took', async () => {
    const report = { 'x-llmservice-usage': 'prompt=1, completion=2, text=0' };
    wake(
      await pod((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: a\n\n');
        response.addTrailers({ ...report, 'x-other': 'a' });
        response.end();
      }),
    );
    const request = http.request({ host: '127.0.0.1', port, method: 'POST', path: '/', agent: false });
    request.end('{}');
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect(await text(response)).toBe('data: a\n\n');
    expect(response.trailers).toEqual(report);
  });

  test('that dies within an event has the error reported as another event', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\n';
    wake(await rawPod((socket) => socket.end(`${head}data: {"half`)));
    expect((await post('{}')).body).toMatch(/^data: \{"half\n\ndata: \{"error":.*upstream_failed.*\n\n$/);
  });
});

test('a body takes room until a pod has it, not until its answer', async () => {
  let finish = (): void => undefined;
  wake(
    await pod((request, response) => {
      request.resume();
      finish = () => void response.end();
    }),
  );
  const first = post(Buffer.alloc(16 * mib));
  await until(() => activator.held === 0);
  wake(await wellPod());
  let status = 503;
  while (status === 503) status = (await post(Buffer.alloc(2_000))).status;
  finish();
  expect((await first).status).toBe(200);
});

test('connections end with what is answered during the end', async () => {
  let finish = (): void => undefined;
  let asked = 0;
  wake(
    await pod((_, response) => {
      asked += 1;
      finish = () => void response.end();
    }),
  );
  const agent = new http.Agent({ keepAlive: true });
  const ask = async (): Promise<string | undefined> => {
    const [response] = (await once(http.get({ host: '127.0.0.1', port, agent }), 'response')) as [
      http.IncomingMessage,
    ];
    response.resume();
    return response.headers.connection;
  };
  const underWay = ask();
  await until(() => asked === 1);
  const drained = activator.drain({ heldMs: 50_000, answersMs: 50_000 });
  expect(await ask()).toBe('close');
  finish();
  expect(await underWay).toBe('close');
  await drained;
});
