// What happens to connections that do not do their part, byte by byte over plain sockets.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { makeApp } from '../app.js';
import { endless, output, byteIds, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { selfSigned } from './certificate.fixture.js';
import { HttpServer } from './http-server.js';
import { StalledReaders } from './stalled-readers.js';

const limits = {
  // Those of a request count time, not looks: they would be over where this process stalls for as long.
  ...{ headersMs: 600_000, requestMs: 600_000 },
  readerMs: 300,
  lingerMs: 1_000,
  silenceMs: 300,
  lookMs: 50,
};
let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ limits });
});
afterEach(() => server.stop());

/** From here on the requests of the group have to come soon. */
function hastened(): void {
  beforeEach(async () => {
    await server.stop();
    server = await ScriptedServer.start({ limits: { ...limits, headersMs: 300, requestMs: 600 } });
  });
}

/** A client's socket and all that it was sent. */
interface Client {
  readonly socket: Socket;
  readonly closed: Promise<string>;
}

function dial(text: string): Client {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  socket.setEncoding('utf8').on('data', (part: string) => (received += part));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => {
    // The server's end: this side closes only then.
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve(received));
  });
  socket.write(text);
  return { socket, closed };
}

function post(body: string, headers = ''): string {
  const length = String(Buffer.byteLength(body));
  return `POST /v1/completions HTTP/1.1\r\nhost: x\r\n${headers}content-length: ${length}\r\n\r\n${body}`;
}

/** Asks again where this process stalled for longer than a request may take to come. */
async function inTime(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status !== 408) return response;
  }
}

/** Status and error code of a raw answer. */
function statusAndCode(answer: string): [number, string] {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const { error } = JSON.parse(body) as { error: { code: string } };
  return [Number(head.split(' ')[1]), error.code];
}

const untilIdle = async (): Promise<void> => {
  while (server.engine.open > 0 || server.parts.admission.inFlight > 0) await sleep(10);
};
const untilBusy = async (): Promise<void> => {
  while (server.engine.open === 0) await sleep(10);
};

describe('what does not come in time', () => {
  hastened();

  test.each([
    ['half a request line', 'POST /v1/comp'],
    ['a header that never ends', 'GET /health HTTP/1.1\r\nx-a: '],
    ['half a body', post('x'.repeat(100)).slice(0, -50)],
    ['nothing', ''],
  ])('is refused and closed: %s', async (_, text) => {
    expect(statusAndCode(await dial(text).closed)).toEqual([408, 'request_timeout']);
    expect((await inTime(() => server.get('/health'))).status).toBe(200);
  });

  test('is no answer: a client that waits for it longer than every limit gets it', async () => {
    server.script = async function* () {
      await sleep(1000);
      yield { ...output(byteIds('late')), finish: 'stop', stopToken: 2 };
    };
    const response = await inTime(() => server.post('/v1/completions', { prompt: 'x' }));
    expect(await response.json()).toMatchObject({ choices: [{ text: 'late' }] });
  });
});

describe('is refused and closed', () => {
  test.each([
    ['a header bomb', `GET / HTTP/1.1\r\nx-a: ${'a'.repeat(70_000)}`, 431, 'headers_too_large'],
    [
      'many headers',
      `GET / HTTP/1.1\r\n${'x-a: aaaaaaaaaaaa\r\n'.repeat(2000)}\r\n`,
      431,
      'headers_too_large',
    ],
    ['garbage', '\x16\x03\x01\x02garbage\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'invalid_request',
    ],
  ])('%s', async (_, text, status, code) => {
    expect(statusAndCode(await dial(text).closed)).toEqual([status, code]);
    expect((await server.get('/health')).status).toBe(200);
  });
});

describe('cancels its generation and leaves no connection', () => {
  const stream = post(JSON.stringify({ prompt: 'x', max_tokens: 60, stream: true }));

  test('a client that closes its half', async () => {
    server.script = endless;
    const { socket, closed } = dial(stream);
    await untilBusy();
    socket.end();
    await closed;
    await untilIdle();
  });

  test('a client that goes while its body is unpacked', async () => {
    server.script = endless;
    const body = gzipSync(JSON.stringify({ prompt: 'x', max_tokens: 60, user: 'a'.repeat(90_000) }));
    const lines = ['host: x', 'content-encoding: gzip', `content-length: ${String(body.length)}`];
    const { socket, closed } = dial(`POST /v1/completions HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.write(body, () => socket.destroy());
    await closed;
    while (server.ended.length === 0) await sleep(10);
    await untilIdle();
  });

  test('garbage behind a request that is answered', async () => {
    server.script = endless;
    const { socket, closed } = dial(stream);
    await untilBusy();
    socket.once('data', () => socket.write('garbage\r\n\r\n'));
    expect(await closed).not.toContain('400 Bad Request');
    await untilIdle();
  });

  /** Says nothing before it is ended. */
  const silent: Script = async function* (_request, signal) {
    await once(signal, 'abort');
    yield output(byteIds('a'));
  };

  test('garbage behind a request that waits for the answer before it', async () => {
    server.script = (request, signal) => (server.engine.open > 1 ? silent : endless)(request, signal);
    const { socket, closed } = dial(stream + stream);
    while (server.engine.open < 2) await sleep(10);
    await once(socket, 'data');
    socket.write('garbage\r\n\r\n');
    expect(await closed).not.toContain('400 Bad Request');
    await untilIdle();
  });

  test('garbage behind a request whose answer has not begun, which an answer to it would be taken for', async () => {
    server.script = silent;
    const { socket, closed } = dial(stream);
    await untilBusy();
    socket.write('garbage\r\n\r\n');
    expect(await closed).toBe('');
    await untilIdle();
  });
});

test('a connection that the kernel cannot accept ends nothing', async () => {
  const { server: listening } = server.http as unknown as { server: NetServer };
  // As Node reports what accept(2) answered.
  listening.emit('error', Object.assign(new Error('accept ENOMEM'), { code: 'ENOMEM', syscall: 'accept' }));
  expect((await server.get('/health')).status).toBe(200);
});

const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
const hasIpv6 = addresses.some(({ address }) => address === '::1');
(hasIpv6 ? test : test.skip)('without an address it listens on every one, of IPv6 too', async () => {
  const http = new HttpServer(makeApp(server.parts), server.parts);
  const port = String(await http.listen(null, 0));
  for (const host of ['127.0.0.1', '[::1]'])
    expect((await fetch(`http://${host}:${port}/healthz/live`)).status).toBe(200);
  await http.close();
});

describe.each([
  ['HTTP', createServer, (port: number) => connect(port, '127.0.0.1')],
  [
    'HTTPS',
    (handler: RequestListener) => createTlsServer(selfSigned, handler),
    (port: number) => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }),
  ],
])('over %s', (_, serve, connectTo) => {
  test('a client that reads nothing is cut off, one that reads slowly is not', async () => {
    const answers: ServerResponse[] = [];
    const large = serve((_request, response) => {
      answers.push(response);
      // More than the kernel's buffers take.
      response.write(Buffer.alloc(64 * 2 ** 20));
    }).listen(0, '127.0.0.1');
    await once(large, 'listening');
    // The kernel takes more of a write as its buffers empty, in steps that a full machine makes long.
    const readerMs = 3 * limits.readerMs;
    const readers = new StalledReaders(large, { ...limits, readerMs });
    const { port } = large.address() as AddressInfo;
    const dialLarge = async (): Promise<[Socket, ServerResponse]> => {
      const socket = connectTo(port).on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await once(large, 'request');
      return [socket, answers.at(-1)!];
    };
    const [reader, read] = await dialLarge();
    // Less in all than the one write that it is sent, and something between any two checks it.
    let taken = 0;
    reader.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      if (taken < 2 ** 18) return;
      taken = 0;
      reader.pause();
      setTimeout(() => reader.resume(), limits.lookMs / 2);
    });
    const [idler, unread] = await dialLarge();
    idler.pause();
    await once(unread, 'close');
    await sleep(2 * readerMs);
    expect(read.destroyed).toBe(false);
    reader.destroy();
    readers.stop();
    large.close();
  });
});

test('while a replica drains it keeps no connection', async () => {
  server.script = endless;
  const health = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
  const idle = dial(health);
  await once(idle.socket, 'data');
  const running = dial(post(JSON.stringify({ prompt: 'x', max_tokens: 60, stream: true })));
  await untilBusy();
  const drained = server.http.drain(300);
  expect(await idle.closed).toContain('200 OK');
  const refused = await dial(post(JSON.stringify({ prompt: 'x' }))).closed;
  expect(statusAndCode(refused)).toEqual([503, 'draining']);
  expect(refused).toMatch(/^connection: close\r$/im);
  await drained;
  running.socket.end();
});

describe('of a body that is refused', () => {
  test.each([
    ['trickles', 50, 10],
    ['falls silent', 0, 0],
    ['is sent in great pieces', 10, 50_000],
  ])('the rest that %s is not waited for, and the answer arrives', async (_, everyMs, bytes) => {
    const length = bytes > 1000 ? 10_000_000 : 200_000;
    const { socket, closed } = dial(post('x'.repeat(length)).slice(0, 1000 - length));
    const piece = 'x'.repeat(bytes);
    const timer = everyMs === 0 ? undefined : setInterval(() => socket.write(piece), everyMs);
    const answer = await closed;
    clearInterval(timer);
    expect(statusAndCode(answer)).toEqual([413, 'request_too_large']);
    if (bytes > 1000) expect(socket.bytesWritten).toBeLessThan(length);
  });

  test('who sends all of it keeps the connection', async () => {
    // A little more than a body may have.
    const { socket, closed } = dial(post('x'.repeat(100_900)).slice(0, -99_900));
    await once(socket, 'data');
    socket.write('x'.repeat(90_000));
    await sleep(limits.silenceMs / 3);
    socket.write('x'.repeat(9_900));
    await sleep(2 * limits.silenceMs);
    socket.write('GET /healthz/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    socket.end();
    expect((await closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });
});
