// What a gateway's router adds to a request: 200 services, 256 streams under way and 2,000 idle connections through it, and short
// requests to a service directly and through the router in turn. The services are scripted: what they take is none of its.
// usage: tsx test/bench/gateway.ts [REQUESTS [keys]]; `npm run build` first; a minute. With `keys` all are of one key with a
// budget, whose tokens no service reports, so that the router looks for them in the answers.

import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import * as net from 'node:net';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { modelRoute, RouterProcess } from '../integration/router-process.js';
import { loadBefore, watchDisturbances } from './peers/quiet.js';

const serviceCount = 200;
const streamCount = 256;
const idleCount = 2_000;
/** Between two events of a stream. */
const eventMs = 40;
const aimMs = 1;
const keys = process.argv[3] === 'keys' ? [{ id: 'bench', text: 'bench', tokensPerDay: 1e9 }] : undefined;
const event = `data: ${JSON.stringify({ choices: [{ text: ' word', index: 0, finish_reason: null }] })}\n\n`;

if (isMainThread) await measure(Number(process.argv[2] ?? 2_000));
else await serve();

/** A body with `stream` gets events for as long as somebody reads; any other a short answer at once. */
async function serve(): Promise<void> {
  const ports: number[] = [];
  for (let index = 0; index < serviceCount; index += 1) {
    const server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.once('end', () => {
        if (!body.includes('"stream":true')) {
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
          return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => response.write(event), eventMs);
        response.once('close', () => clearInterval(timer));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  parentPort?.postMessage(ports);
}

async function measure(requests: number): Promise<void> {
  const load = loadBefore();
  const worker = new Worker(fileURLToPath(import.meta.url), { execArgv: process.execArgv });
  const [ports] = (await once(worker, 'message')) as [number[]];
  const urls = ports.map((port) => `http://127.0.0.1:${String(port)}`);
  const router = await RouterProcess.start({
    routes: urls.map((url, index) => modelRoute(`model-${String(index)}`, url)),
    ...(keys === undefined ? {} : { keys }),
    env: { LOG_LEVEL: 'warn' },
  });
  const sockets: Socket[] = [];
  const disturbed = watchDisturbances(load);
  try {
    for (let index = 0; index < idleCount; index += 1) sockets.push(await idle(router.url));
    const streams = Array.from({ length: streamCount }, (_, index) => open(router.url, index % serviceCount));
    const counts = await Promise.all(streams);
    const direct: number[] = [];
    const routed: number[] = [];
    const before = counts.map(({ events }) => events());
    const startedAt = performance.now();
    for (let round = 0; round < requests; round += 1) {
      const index = round % serviceCount;
      direct.push(await short(urls[index] ?? '', index));
      routed.push(await short(router.url, index));
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const rates = counts.map(({ events }, index) => (events() - (before[index] ?? 0)) / seconds);
    const added = routed.map((one, index) => one - (direct[index] ?? 0));
    console.log(
      `${String(requests)} requests of each, in turn; ${String(serviceCount)} services, ${String(streamCount)} streams, ` +
        `${String(idleCount)} idle connections\n`,
    );
    console.log('| | p50, ms | p90, ms | p99, ms |\n|---|---|---|---|');
    for (const [name, times] of Object.entries({ direct, 'through the router': routed, added })) {
      const cells = [0.5, 0.9, 0.99].map((share) => quantile(times, share).toFixed(2));
      console.log(`| ${[name, ...cells].join(' | ')} |`);
    }
    const asked = 1000 / eventMs;
    console.log(
      `\nslowest stream: ${((Math.min(...rates) / asked) * 100).toFixed(0)} % of its events in time`,
    );
    const p50 = quantile(added, 0.5);
    console.log(`aim: ${String(aimMs)} ms added at p50: ${p50 < aimMs ? 'met' : 'missed'}`);
    for (const sentence of disturbed([1])) console.log(`not quiet: ${sentence}`);
  } finally {
    for (const socket of sockets) socket.destroy();
    await router.stop();
    await worker.terminate();
  }
  process.exit(0);
}

/** A connection over which a request has gone, and over which the next may. */
async function idle(base: string): Promise<Socket> {
  const socket = net.connect(Number(new URL(base).port), '127.0.0.1');
  socket.write('GET /health HTTP/1.1\r\nhost: gateway\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

function post(base: string, index: number, body: object): http.ClientRequest {
  const options = { method: 'POST', agent: false, headers: { authorization: 'Bearer bench' } };
  const request = http.request(`${base}/v1/completions`, options);
  return request.end(JSON.stringify({ model: `model-${String(index)}`, prompt: 'x'.repeat(2_000), ...body }));
}

async function open(base: string, index: number): Promise<{ events: () => number }> {
  const [response] = (await once(post(base, index, { stream: true }), 'response')) as [http.IncomingMessage];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => (bytes += chunk.byteLength)).on('error', () => undefined);
  return { events: () => bytes / event.length };
}

async function short(base: string, index: number): Promise<number> {
  const startedAt = performance.now();
  const [response] = (await once(post(base, index, {}), 'response')) as [http.IncomingMessage];
  await once(response.resume(), 'end');
  return performance.now() - startedAt;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
