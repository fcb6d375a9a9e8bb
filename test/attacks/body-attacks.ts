// Hostile bodies and connections: megabytes that never end, that unpack to more, that are JSON at its most costly, and
// requests that say two things at once.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { Attack, AttackTarget } from './attack.js';

const mib = 2 ** 20;
/** A little less than the default limit of a body. */
const largeBytes = Math.floor(15.6e6);
/** Everybody may be refused since there is no room now. */
const busy = [429, 503];

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent whole, or in parts until the client is answered. */
  readonly body: Buffer | (() => Iterable<Buffer>);
}

/** Status of the answer; null: the connection ended without one, or the run is over. */
function post({ port, headers: own, over }: AttackTarget, { path = '/v1/completions', headers, body }: Sent) {
  return new Promise<number | null>((resolve) => {
    const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: { ...length, ...own, ...headers },
        agent: false,
      },
      (response: IncomingMessage) => {
        resolve(response.statusCode ?? null);
        response.resume().on('error', () => undefined);
        response.once('end', () => request.destroy());
      },
    );
    const end = (): void => void request.destroy();
    request
      .on('error', () => undefined)
      .once('close', () => {
        over.removeEventListener('abort', end);
        resolve(null);
      });
    over.addEventListener('abort', end);
    if (Buffer.isBuffer(body)) request.end(body);
    else void writeOn(request, body());
  });
}

async function writeOn(request: ReturnType<typeof httpRequest>, parts: Iterable<Buffer>): Promise<void> {
  for (const part of parts) {
    if (request.destroyed) return;
    if (!request.write(part)) await drained(request);
  }
  request.end();
}

/** Or the connection is gone. */
function drained(request: ReturnType<typeof httpRequest>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      request.off('drain', end).off('close', end);
      resolve();
    };
    request.on('drain', end).on('close', end);
  });
}

/** A body that is to be refused with one of these, or for want of room. */
function refused(name: string, statuses: readonly number[], make: () => Sent): Attack {
  // Made once: an attacker that computes for seconds attacks its own process.
  let sent: Sent | null = null;
  return {
    name,
    run: async (target) => {
      const status = await post(target, (sent ??= make()));
      if (status === null || [...statuses, ...busy].includes(status)) return;
      throw new Error(`the answer is ${String(status)}, not ${statuses.join(' or ')}`);
    },
  };
}

const repeated = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));
/** Each new to the reader of JSON, which keeps short strings and names in a table. */
const distinct = (count: number, make: (i: string) => string): string =>
  Array.from({ length: count }, (_, i) => make(String(i))).join(',');
const json = (text: string): Buffer => Buffer.from(`{"prompt":[${text}`);

const costly: readonly [string, number, () => string][] = [
  ['lists of one number', 400, () => `${repeated('[1],', largeBytes)}[1]]}`],
  ['numbers', 400, () => `${repeated('1,', largeBytes)}1]}`],
  ['strings, as many as there may be', 400, () => `${distinct(131_000, (i) => `"s${i}"`)},"a"]}`],
  [
    'long strings, as many as there may be',
    400,
    () => `${repeated(`"${'a'.repeat(118)}",`, largeBytes)}"a"]}`,
  ],
  ['names, as many as there may be', 400, () => `${distinct(49_000, (i) => `{"n${i}":1}`)}]}`],
  ['escapes', 400, () => `"${repeated('\\u0000', largeBytes)}"]}`],
  ['one number', 400, () => `${repeated('1', largeBytes)}]}`],
];

/** Never ends, and unpacks to nothing. */
function* emptyBlocks(): Iterable<Buffer> {
  // A gzip header, then stored blocks of no bytes.
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  const blocks = Buffer.from(Array.from({ length: 13_000 }, () => [0, 0, 0, 255, 255]).flat());
  for (;;) yield blocks;
}

/** A byte less than what is announced. */
const letters = Buffer.alloc(largeBytes - 1, 'x');

export async function unfinished(target: AttackTarget): Promise<void> {
  const { port, headers, over } = target;
  const socket = connect({ port, host: '127.0.0.1' });
  const ended = answerOf(socket);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /v1/completions HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${String(largeBytes)}\r\n\r\n`,
  );
  socket.write(letters);
  const answer = await Promise.race([ended, leftAt(over)]);
  socket.destroy();
  if (answer === '' || /^HTTP\/1\.1 (408|429|503) /.test(answer)) return;
  throw new Error(`the answer is ${answer.slice(0, 200)}`);
}

/** All that a socket is sent until it is answered or closed. */
function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      received += part;
      if (received.includes('\r\n\r\n')) resolve(received);
    });
    socket.on('error', () => undefined).once('close', () => resolve(received));
  });
}

async function leftAt(over: AbortSignal): Promise<string> {
  await sleep(60_000, undefined, { signal: over }).catch(() => undefined);
  return '';
}

async function twoHosts({ port, headers }: AttackTarget): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /v1/models HTTP/1.1\r\nhost: a\r\nHost: b\r\n${lines.join('')}\r\n`);
  const answer = await answerOf(socket);
  socket.destroy();
  if (answer !== '' && !/^HTTP\/1\.1 (400|503) /.test(answer))
    throw new Error(`the answer is ${answer.slice(0, 200)}`);
}

/** Connections that say nothing, or half a header. */
async function silent({ port, random, over }: AttackTarget): Promise<void> {
  const sockets = Array.from({ length: 50 }, (_, i) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    if (i % 2 === 0) socket.write('POST /v1/completions HTTP/1.1\r\nx-a: ');
    return socket;
  });
  await sleep(500 + random(2_000), undefined, { signal: over }).catch(() => undefined);
  for (const socket of sockets) socket.destroy();
}

export const bodyAttacks: readonly Attack[] = [
  { name: 'an unfinished body of 15.6 MB', run: unfinished },
  ...costly.map(([name, status, text]) =>
    refused(`a body of ${name}`, [status], () => ({ body: json(text()) })),
  ),
  refused('a packed body that unpacks to 256 MiB', [413], () => ({
    headers: { 'content-encoding': 'gzip' },
    body: Buffer.concat(Array<Buffer>(256).fill(gzipSync(Buffer.alloc(mib, 'x')))),
  })),
  refused('a packed body that unpacks to nothing and never ends', [413], () => ({
    headers: { 'content-encoding': 'gzip' },
    body: emptyBlocks,
  })),
  refused('a body that is packed twice', [400], () => ({
    headers: { 'content-encoding': 'gzip, gzip' },
    body: gzipSync(gzipSync(Buffer.alloc(mib, 'x'))),
  })),
  refused('a packed body that ends too soon', [400], () => ({
    headers: { 'content-encoding': 'deflate' },
    body: deflateRawSync(Buffer.alloc(mib, 'x')).subarray(0, 100),
  })),
  { name: 'a request with two hosts', run: twoHosts },
  { name: 'fifty connections that say nothing', run: silent },
];
