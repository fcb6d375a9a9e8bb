// What the server adds to a request's time to first token: the client's time, one request after the other, less the time
// in the engine's native steps. All else counts as the server's: HTTP, validation, template, tokenizer, both ways
// between the processes, scheduling, the event. The last columns are of whole answers: a server that is often ready
// without a core measures the machine's other work. usage: tsx test/bench/server-overhead.ts [REQUESTS]

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LoadReplica } from '../load/load-replica.js';

const [requests = 500] = process.argv.slice(2).map(Number);
const warmUp = 100;
const barMs = 1;

/** One token each: its only step is the first. */
const limits = { max_tokens: 1, temperature: 0, stream: true };
const text = 'What is the capital of France?';
const kinds = [
  { name: 'completion of text', path: '/v1/completions', body: { prompt: text } },
  { name: 'completion of ids', path: '/v1/completions', body: { prompt: [84, 104, 101, 32] } },
  { name: 'chat', path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: text }] } },
];

/** Milliseconds from sending the request to its first event, on a connection that stays open. */
async function timeToFirst(socket: Socket, path: string, body: object): Promise<number> {
  const json = JSON.stringify({ ...body, ...limits });
  const length = String(Buffer.byteLength(json));
  let received = '';
  let firstAt = NaN;
  const whole = new Promise<void>((resolve) => {
    const read = (part: Buffer): void => {
      received += part.toString('latin1');
      if (Number.isNaN(firstAt) && received.includes('data: ')) firstAt = performance.now();
      if (!received.endsWith('0\r\n\r\n')) return;
      socket.off('data', read);
      resolve();
    };
    socket.on('data', read);
  });
  const sentAt = performance.now();
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n${json}`);
  await whole;
  if (!received.includes('[DONE]')) throw new Error(`no whole answer: ${received.slice(0, 300)}`);
  return firstAt - sentAt;
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

const replica = await LoadReplica.start({ maxNumSeqs: 4, maxWaiting: 4, threads: 1 });
try {
  const stepMs = async (): Promise<number> =>
    (await replica.watch.metric('llmservice_engine_step_seconds_total')) * 1000;
  const socket = connect(replica.port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  const columns = [
    'request',
    'p50 to first token ms',
    'p50 of it in the engine ms',
    'p50 added ms',
    'p90 added ms',
    'server on a core, ms a request',
    'ready without one, ms a request',
  ];
  console.log(`| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}`);
  const medians: number[] = [];
  for (const { name, path, body } of kinds) {
    for (let i = 0; i < warmUp; i += 1) await timeToFirst(socket, path, body);
    const threadBefore = replica.watch.mainThread;
    for (let i = 0; i < requests; i += 1) await timeToFirst(socket, path, body);
    const thread = replica.watch.mainThread;
    const rounds: { readonly total: number; readonly engine: number }[] = [];
    let before = await stepMs();
    for (let i = 0; i < requests; i += 1) {
      const total = await timeToFirst(socket, path, body);
      const after = await stepMs();
      rounds.push({ total, engine: after - before });
      before = after;
    }
    const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
    const added = sorted(rounds.map(({ total, engine }) => total - engine));
    const p50 = quantile(added, 0.5);
    medians.push(p50);
    const cells = [
      quantile(sorted(rounds.map(({ total }) => total)), 0.5),
      quantile(sorted(rounds.map(({ engine }) => engine)), 0.5),
      p50,
      quantile(added, 0.9),
      (thread.ranMs - threadBefore.ranMs) / requests,
      (thread.waitedMs - threadBefore.waitedMs) / requests,
    ];
    console.log(`| ${name} | ${cells.map((ms) => ms.toFixed(3)).join(' | ')} |`);
  }
  socket.destroy();
  const isWell = medians.every((ms) => ms < barMs);
  console.log(`${isWell ? 'below' : 'NOT below'} ${String(barMs)} ms at the median of every kind`);
  process.exitCode = isWell ? 0 : 1;
} finally {
  await replica.stop();
}
