// What the server adds to a request's time to first token: the client's time, one request after the other, less what the
// same engine takes for the same tokens in a process of its own, both asked in turn with a pause after each answer, so
// that log lines of one do not meet the next. Beside it stands what a server of Node's own takes that does nothing.
// usage: tsx test/bench/server-overhead.ts [REQUESTS] [PAUSE_MS] [small|demo]
//
// - `small` is a llama of 0.5 MB with the demo model's tokenizer and template. A step of the demo model reads 7 MB through
//   the caches of the very cores that the server runs on, as no GPU's does: the server's code then comes from memory anew.
// - Processors as they are, and kept from halting by loops of the idle class: to wake a halted one is the machine's.
// - The last columns are of whole answers: a server that is often ready without a core measures the machine's other work.
// - The client's thread is a real-time one, as if on another machine. Otherwise Linux wakes it on the server's own core,
//   since the idle loops make all of them look busy, and it reads when the server has also written its log line.

import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { llamaConfig, llamaTensors } from '../builders/llama.js';
import { bf16Noise, safetensors } from '../builders/safetensors.js';
import { demoCheckpoint } from '../integration/replica-process.js';
import { LoadReplica } from '../load/load-replica.js';

const [requests = 1000, pauseMs = 2] = process.argv.slice(2, 4).map(Number);
const isSmall = process.argv[4] !== 'demo';
/** Until the compiler has seen what it is to compile: the median of chats falls until some 6,000 requests. */
const warmUp = 6000;
/** Asked in turn for so many, so that both meet the same machine. */
const batch = 50;
const barMs = 1;

/** One token each: its only step is the first. */
const limits = { max_tokens: 1, temperature: 0, stream: true };
const text = 'What is the capital of France?';
const messages = [{ role: 'user', content: text }];
const ids = [84, 104, 101, 32];
const kinds = [
  { name: 'completion of text', path: '/v1/completions', body: { prompt: text } },
  { name: 'completion of ids', path: '/v1/completions', body: { prompt: ids } },
  { name: 'chat', path: '/v1/chat/completions', body: { messages } },
];

/** Milliseconds from sending the request to its first event, on a connection that stays open. */
async function timeToFirst(socket: Socket, path: string, body: object): Promise<number> {
  const json = JSON.stringify({ ...body, ...limits });
  const length = String(Buffer.byteLength(json));
  let received = '';
  let firstAt = NaN;
  const whole = new Promise<void>((resolve, reject) => {
    const closed = (): void => reject(new Error('the server closed the connection'));
    socket.once('close', closed);
    const read = (part: Buffer): void => {
      received += part.toString('latin1');
      if (Number.isNaN(firstAt) && received.includes('data: ')) firstAt = performance.now();
      if (!received.endsWith('0\r\n\r\n')) return;
      socket.off('data', read).off('close', closed);
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

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** With the demo model's tokenizer and chat template. */
function writeSmallModel(folder: string): void {
  const { vocab_size: vocab } = (
    JSON.parse(readFileSync(join(demoCheckpoint, 'config.json'), 'utf8')) as {
      text_config: { vocab_size: number };
    }
  ).text_config;
  const size = { layers: 2, hidden: 64, heads: 1, kvHeads: 1, headDim: 64, ffn: 256, vocab };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(llamaConfig(size)));
  writeFileSync(join(folder, 'model.safetensors'), safetensors(llamaTensors(size), bf16Noise()));
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']) {
    copyFileSync(join(demoCheckpoint, file), join(folder, file));
  }
}

/** Answers with two events at once. */
const bareServer = `
  const server = require('node:http').createServer((request, response) => {
    request.on('data', () => undefined).on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {}\\n\\n');
      response.end('data: [DONE]\\n\\n');
    });
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
`;

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

/** Of this thread only. */
const readAtOnce = (): void =>
  void execFileSync('chrt', ['--reset-on-fork', '--fifo', '--pid', '1', String(process.pid)]);

/** They run where nothing else would. */
const keepAwake = (): ChildProcess[] =>
  Array.from({ length: availableParallelism() }, () =>
    spawn('chrt', ['--idle', '0', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' }),
  );

const awake: ChildProcess[] = [];
readAtOnce();
const folder = mkdtempSync(join(tmpdir(), 'llmservice-overhead-'));
if (isSmall) writeSmallModel(folder);
const checkpoint = isSmall ? folder : demoCheckpoint;
const replica = await LoadReplica.start({ checkpoint, maxNumSeqs: 4, maxWaiting: 4, threads: 1 });
const engine = fork(fileURLToPath(new URL('engine-alone.ts', import.meta.url)), [checkpoint]);
const bare = spawn(process.execPath, ['-e', bareServer], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
try {
  await once(engine, 'message');
  const askEngine = async (prompt: readonly number[], count: number, pauseMs = 0): Promise<number[]> => {
    engine.send({ prompt, count, pauseMs });
    const [times] = (await once(engine, 'message')) as [number[]];
    return times;
  };
  const tokensOf = async ({ path, body }: (typeof kinds)[number]): Promise<number[]> => {
    if ('prompt' in body && body.prompt !== text) return ids;
    const answer = await fetch(`${replica.url}/tokenize`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: /tokenize answers ${await answer.text()}`);
    return ((await answer.json()) as { tokens: number[] }).tokens;
  };
  const [barePort] = (await once(bare, 'message')) as [number];
  const [socket, bareSocket] = [await open(replica.port), await open(barePort)];
  const measure = async (to: Socket, path: string, body: object, count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let i = 0; i < count; i += 1) {
      times.push(await timeToFirst(to, path, body));
      if (pauseMs > 0) await sleep(pauseMs);
    }
    return times;
  };
  const columns = [
    'request',
    'p50 to first token ms',
    'p50 of the engine alone ms',
    'p50 added ms',
    'p50 of a bare server ms',
    'server on a core, ms a request',
    'ready without one, ms a request',
  ];
  console.log(`| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}`);
  const medians: number[] = [];
  for (const kind of [...kinds, ...kinds]) {
    const { name, path, body } = kind;
    const prompt = await tokensOf(kind);
    const isAwake = medians.length >= kinds.length;
    if (isAwake && awake.length === 0) awake.push(...keepAwake());
    for (let i = 0; !isAwake && i < warmUp; i += 1) await timeToFirst(socket, path, body);
    if (!isAwake) await askEngine(prompt, warmUp);
    const times: number[] = [];
    const bareTimes: number[] = [];
    const engineTimes: number[] = [];
    let [ranMs, waitedMs] = [0, 0];
    for (let done = 0; done < requests; done += batch) {
      bareTimes.push(...(await measure(bareSocket, path, body, batch)));
      engineTimes.push(...(await askEngine(prompt, batch, pauseMs)));
      const threadBefore = replica.watch.mainThread;
      times.push(...(await measure(socket, path, body, batch)));
      const thread = replica.watch.mainThread;
      ranMs += thread.ranMs - threadBefore.ranMs;
      waitedMs += thread.waitedMs - threadBefore.waitedMs;
    }
    const [whole, alone] = [quantile(times, 0.5), quantile(engineTimes, 0.5)];
    medians.push(whole - alone);
    const cells = [
      whole,
      alone,
      whole - alone,
      quantile(bareTimes, 0.5),
      ranMs / times.length,
      waitedMs / times.length,
    ];
    console.log(
      `| ${name}${isAwake ? ', processors awake' : ''} | ${cells.map((ms) => ms.toFixed(3)).join(' | ')} |`,
    );
  }
  socket.destroy();
  bareSocket.destroy();
  const isWell = medians.slice(kinds.length).every((ms) => ms < barMs);
  console.log(
    `${isWell ? 'below' : 'NOT below'} ${String(barMs)} ms at the median of every kind, processors awake`,
  );
  process.exitCode = isWell ? 0 : 1;
} finally {
  for (const loop of awake) loop.kill('SIGKILL');
  bare.kill();
  engine.kill();
  await replica.stop();
  rmSync(folder, { recursive: true });
}
