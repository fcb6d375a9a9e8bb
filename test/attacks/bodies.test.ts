// Bodies and connections of strangers at a whole replica: others lose no token, probes are answered, and memory is bounded.

import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { residentBytes } from '../load/server-watch.js';
import { TurnWatch } from '../load/turn-watch.js';
import { bodyAttacks, unfinished } from './body-attacks.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

const mib = 2 ** 20;
const bodiesBytes = 128 * mib;
const maxConnections = 1024;
/** Of a processor: several times what JSON.parse takes where the bounds end. At once, lists take 20 s, a long answer 0.4. */
const maxTurnMs = 200;
/** By the clock, which the machine's other work lengthens: the period of the pods' own probes, of which six in a row must fail. */
const maxLivenessMs = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'llmservice-bodies-'));
const turns = new TurnWatch(join(folder, 'turns'));
let replica: ReplicaProcess;
let port: number;
beforeAll(async () => {
  const env = {
    LLMSERVICE_MAX_BODIES_BYTES: String(bodiesBytes),
    LLMSERVICE_MAX_CONNECTIONS: String(maxConnections),
    ...turns.env,
  };
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, env });
  await replica.ready();
  port = Number(new URL(replica.url).port);
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const letters = Buffer.alloc(15.9e6 - 1, 'x');

/** Begins a body and sends all of it but a byte. */
function dangle(): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(
    `POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${String(letters.length + 1)}\r\n\r\n`,
  );
  socket.write(letters);
  return socket;
}

/** Asks for liveness again and again; returns the longest that an answer took. */
class Probe {
  longestMs = 0;
  readonly #over = new AbortController();
  readonly #running = this.#run();

  async end(): Promise<number> {
    this.#over.abort();
    await this.#running;
    return this.longestMs;
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const startedAt = performance.now();
      // As the kubelet asks: on a connection of its own.
      const { status } = await fetch(`${replica.url}/healthz/live`, { headers: { connection: 'close' } });
      if (status !== 200) throw new Error(`liveness answered ${String(status)}`);
      this.longestMs = Math.max(this.longestMs, performance.now() - startedAt);
      await sleep(20);
    }
  }
}

/** Liveness and an honest stream beside what `attack` does. */
async function beside(what: string, attack: () => Promise<unknown>): Promise<void> {
  const before = turns.count;
  const witness = await Witness.begin({ port });
  const probe = new Probe();
  await attack();
  const livenessMs = await probe.end();
  await witness.end();
  // The client and the server share the machine: what the server itself computed at a stretch is measured separately.
  const longestMs = turns.longestMs(before);
  console.log(
    `${what}: liveness within ${livenessMs.toFixed(0)} ms, tokens within ${witness.maxGapMs.toFixed(0)} ms, ` +
      `the server's loop computed for at most ${String(longestMs)} ms at a stretch`,
  );
  expect(witness.faults).toEqual([]);
  expect(longestMs).toBeLessThanOrEqual(maxTurnMs);
  expect(livenessMs).toBeLessThan(maxLivenessMs);
}

describe('unfinished bodies', () => {
  test('of forty clients are bounded, make room for others, and are cut off', async () => {
    const before = residentBytes(replica.child.pid!);
    let highest = 0;
    await beside('40 unfinished bodies', async () => {
      const dangling = Array.from({ length: 40 }, dangle);
      const closed = dangling.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (let i = 0; i < 30; i++) {
        highest = Math.max(highest, residentBytes(replica.child.pid!));
        expect((await replica.post('/v1/completions', { prompt: 'A pod', max_tokens: 2 })).status).toBe(200);
        await sleep(100);
      }
      // Those that stalled make room for one that comes.
      const url = `${replica.url}/v1/completions`;
      const large = await fetch(url, { method: 'POST', body: letters.subarray(0, 10e6) });
      expect(large.status).toBe(400);
      // Each is answered: there was no room, or it came too slowly.
      for (const socket of dangling)
        socket.once('data', () => socket.destroy()).once('end', () => socket.destroy());
      await Promise.all(closed);
    });
    console.log(`40 bodies of 15.9 MB: +${((highest - before) / mib).toFixed(0)} MiB`);
    expect(highest - before).toBeLessThan(2.5 * bodiesBytes);
  });
});

// Unfinished ones, which are waited for until they are cut off, come above.
const others = bodyAttacks.filter(({ run }) => run !== unfinished);
test.each(others.map(({ name, run }) => [name, run] as const))(
  '%s, eight at once: others lose nothing',
  async (name, run) => {
    const over = new AbortController();
    const target = (i: number) => ({ port, headers: {}, random: randomFrom(i), over: over.signal });
    await beside(name, () => Promise.all(Array.from({ length: 8 }, (_, i) => run(target(i)))));
  },
);

test('an answer of 20 log probabilities for each of 19,200 tokens is written while others stream', async () => {
  await beside('a long answer', async () => {
    const messages = [{ role: 'user', content: 'x' }];
    const body = { messages, n: 32, max_tokens: 600, logprobs: true, top_logprobs: 20, ignore_eos: true };
    const answer = await replica.post('/v1/chat/completions', body);
    const { choices } = (await answer.json()) as { choices: { logprobs: { content: unknown[] } }[] };
    expect(choices.map(({ logprobs }) => logprobs.content.length)).toEqual(Array(32).fill(600));
  });
});

test('connections up to the bound keep nobody out, and close those that are idle', async () => {
  await beside('connections', async () => {
    for (let i = 0; i < 2 * maxConnections; i++) {
      const socket = connect({ port, host: '127.0.0.1' });
      sockets.push(socket);
      socket.on('error', () => undefined);
      if (i % 50 === 0) await sleep(50);
    }
    for (let i = 0; i < 10; i++) {
      const headers = { connection: 'close' };
      const body = JSON.stringify({ prompt: 'A pod', max_tokens: 2 });
      const answer = await fetch(`${replica.url}/v1/completions`, { method: 'POST', headers, body });
      expect(answer.status).toBe(200);
    }
    const open = sockets.filter((socket) => !socket.closed);
    expect(open.length).toBeLessThanOrEqual(maxConnections);
  });
});
