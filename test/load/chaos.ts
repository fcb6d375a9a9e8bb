// Clients that behave badly, each in its own way. Every one of them opens one connection, gives what it saw of answers,
// and throws where the server's answer to it is not what it should be.

import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Seen } from './accounting.js';
import { StreamClient } from './stream-client.js';
import { TokenCount } from './token-count.js';

/** A whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

export interface World {
  readonly port: number;
  readonly random: Random;
  /** The load is over: who waits for nothing else leaves. */
  readonly over: AbortSignal;
}

export type BadClient = (world: World) => Promise<Seen[]>;

type Part = string | Buffer;

const mib = 2 ** 20;
const path = '/v1/completions';

/** A request that is fine, with answers of different lengths. */
export function goodBody(random: Random): object {
  const words = ['The', ' capital', ' of', ' France', ' and', ' the', ' river', '\n'];
  const prompt = Array.from({ length: 1 + random(200) }, () => words[random(words.length)]).join('');
  const sampling = random(2) === 0 ? { temperature: 0 } : { temperature: 1, seed: random(1000) };
  return { prompt, max_tokens: 1 + random(64), ...sampling, ...TokenCount.fields };
}

/** Reads all of its answer, streamed or not. */
export async function goodClient({ port, random }: World): Promise<Seen[]> {
  const body = goodBody(random);
  if (random(2) === 0) {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
      method: 'POST',
      // Else the connection would stay open for the next one.
      headers: { connection: 'close' },
      body: JSON.stringify({ ...body, n: 1 + random(3) }),
    });
    const text = await response.text();
    // A full queue is the server's right.
    if (response.status === 429) return [];
    if (response.status !== 200) throw new Error(`a good request got ${String(response.status)}: ${text}`);
    const count = new TokenCount();
    count.take(text);
    const id = response.headers.get('x-request-id') ?? '';
    return [{ id, tokens: count.tokens, usage: count.usage }];
  }
  const { client, count } = openStream(port, body);
  await client.ended;
  if (client.status === 429) return [];
  if (!client.isComplete)
    throw new Error(`a good stream ended with status ${String(client.status)}, ${String(count.error)}`);
  return seenOf(client, count);
}

function openStream(port: number, body: object): { client: StreamClient; count: TokenCount } {
  const count = new TokenCount();
  const client = new StreamClient({ port, path, body: { ...body, stream: true }, onEvent: count.take });
  return { client, count };
}

const seenOf = ({ id }: StreamClient, { tokens, usage }: TokenCount): Seen[] =>
  id === '' ? [] : [{ id, tokens, usage }];

async function disconnects({ port, random }: World): Promise<Seen[]> {
  const { client, count } = openStream(port, { ...goodBody(random), max_tokens: 500, ignore_eos: true });
  await Promise.race([sleep(random(400)), client.ended]);
  client.destroy();
  await client.ended;
  return seenOf(client, count);
}

async function readsSlowly({ port, random, over }: World): Promise<Seen[]> {
  const { client, count } = openStream(port, { ...goodBody(random), max_tokens: 200, ignore_eos: true });
  while (!client.isGone && !over.aborted) {
    client.pause();
    await sleep(random(300));
    client.resume();
    await sleep(random(20));
  }
  await client.ended;
  return seenOf(client, count);
}

/** A plain connection: writes the parts, reads until the server closes it, which it does or the world's end does. */
async function rawAnswer(
  { port, over }: World,
  parts: Iterable<Part> | AsyncIterable<Part>,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (part: string) => (received += part));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').catch(() => undefined);
  const leave = (): void => void socket.destroy();
  over.addEventListener('abort', leave, { once: true });
  try {
    for await (const part of parts) {
      if (socket.destroyed || !(await written(socket, part))) break;
    }
    await closed;
  } finally {
    over.removeEventListener('abort', leave);
  }
  return received;
}

/** Resolves when there is room for more; false when the connection is gone. */
function written(socket: Socket, part: string | Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = (): void => resolve(false);
    socket.once('close', gone);
    socket.write(part, (error) => {
      socket.off('close', gone);
      resolve(error == null);
    });
  });
}

const head = (length: number, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${more}content-length: ${String(length)}\r\n\r\n`;

/** An answer that came must have the status; none may come where the connection broke first. */
function requireStatus(answer: string, ...statuses: readonly number[]): Seen[] {
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
  if (status === 0 || statuses.includes(status)) return [];
  throw new Error(`expected ${statuses.join(' or ')}, got: ${answer.slice(0, 300)}`);
}

async function sendsBadBody(world: World): Promise<Seen[]> {
  const { random } = world;
  const bodies = [
    '{',
    '[]',
    'null',
    '{"prompt": 5}',
    '{"prompt": "x", "max_tokens": -1}',
    '{"prompt": "x", "what": 1}',
    `{"prompt": ${'['.repeat(5000)}`,
    '\u0000\uffff',
    JSON.stringify({ prompt: Array.from({ length: 5000 }, (_, i) => String(i)) }),
  ];
  const body = Buffer.from(bodies[random(bodies.length)] ?? '');
  const answer = await rawAnswer(world, [head(body.length), body]);
  return requireStatus(answer, 400);
}

async function sendsHugeBody(world: World): Promise<Seen[]> {
  const chunked = world.random(2) === 0;
  const more = 'transfer-encoding: chunked\r\n';
  const begin = chunked ? head(0).replace('content-length: 0\r\n', more) : head(64 * mib);
  const answer = await rawAnswer(world, hugeBody(begin, chunked));
  return requireStatus(answer, 413);
}

function* hugeBody(begin: string, chunked: boolean): Generator<Part> {
  yield begin;
  const block = Buffer.alloc(mib, 'a');
  for (let i = 0; i < 64; i += 1) {
    if (chunked) yield `${mib.toString(16)}\r\n`;
    yield block;
    if (chunked) yield '\r\n';
  }
  if (chunked) yield '0\r\n\r\n';
}

async function bombsHeaders(world: World): Promise<Seen[]> {
  const { random } = world;
  const bomb = random(2) === 0 ? `x-a: ${'a'.repeat(200_000)}\r\n` : 'x-a: b\r\n'.repeat(20_000);
  return requireStatus(await rawAnswer(world, [`GET /health HTTP/1.1\r\nhost: x\r\n${bomb}\r\n`]), 431);
}

async function abortsUpload(world: World): Promise<Seen[]> {
  const leave = new AbortController();
  const over = AbortSignal.any([world.over, leave.signal]);
  const upload = rawAnswer({ ...world, over }, [head(4 * mib), Buffer.alloc(1 + world.random(2 * mib), '{')]);
  await sleep(world.random(200));
  leave.abort();
  return requireStatus(await upload, 400, 408);
}

/** Sends half of a request and then nothing: the server's clock or the load's end closes the connection. */
async function staysHalfOpen(world: World): Promise<Seen[]> {
  const whole = head(100) + 'x'.repeat(100);
  const half = whole.slice(0, world.random(whole.length - 1));
  return requireStatus(await rawAnswer(world, [half]), 408);
}

/** A request whose answer has begun, or has not, and what is no HTTP behind it. */
async function pipelinesGarbage(world: World): Promise<Seen[]> {
  const body = JSON.stringify({ ...goodBody(world.random), stream: true });
  const first = head(Buffer.byteLength(body)).replace('connection: close\r\n', '') + body;
  const garbage = Buffer.from(Array.from({ length: 200 }, () => world.random(256)));
  const later = async function* (): AsyncGenerator<Part> {
    yield first;
    await sleep(world.random(100));
    yield Buffer.concat([Buffer.from('\u0000'), garbage, Buffer.from('\r\n\r\n')]);
  };
  return requireStatus(await rawAnswer(world, later()), 200, 400, 429);
}

/** With how often each comes, of all. */
export const badClients: readonly { readonly often: number; readonly client: BadClient }[] = [
  { often: 6, client: disconnects },
  { often: 3, client: readsSlowly },
  { often: 4, client: sendsBadBody },
  { often: 1, client: sendsHugeBody },
  { often: 2, client: bombsHeaders },
  { often: 3, client: abortsUpload },
  { often: 2, client: staysHalfOpen },
  { often: 4, client: pipelinesGarbage },
];
