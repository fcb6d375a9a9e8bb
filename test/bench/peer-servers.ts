// Our server beside llama.cpp's own, whole: HTTP, scheduling, engine, text. Each serves a model of the same shape and random
// weights, one after the other under the same load: 8 streams of 128 tokens of prompt and 128 of output.
// usage: tsx test/bench/peer-servers.ts [ROUNDS [REQUESTS]]; a round of 16 requests takes two to three minutes. Needs 4 GB of
// disk and of memory.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServedModel } from '../gpu/served-model.js';
import { median } from '../median.js';
import { eventually, freePort, repository, start, stop } from '../processes.js';
import { buildPrograms, PeerModels } from './peers/models.js';
import { loadBefore, watchDisturbances } from './peers/quiet.js';
import { loadMeasures, measureLoad, type LoadFigures, type StreamLoad } from './peers/stream-load.js';

const [rounds = 3, requests = 16] = process.argv.slice(2).map(Number);
const load: StreamLoad = { streams: 8, requests, promptTokens: 128, outputTokens: 128 };
const aims = { 'output tok/s': 2.7, 'TTFT p50 ms': 0.45 } as const;
const threads = availableParallelism();

interface Server {
  readonly name: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** With room for every stream, and no more of each. */
async function startOurs(): Promise<Server> {
  const served = await ServedModel.start(join(repository, 'runtime'), models.checkpoint('FP8'), [
    ...['--max-num-seqs', String(load.streams), '--max-model-len', '512'],
  ]);
  await served.serving(120_000);
  return { name: 'llmservice FP8', port: served.port, stop: () => served.stop() };
}

async function startTheirs(kind: 'bf16' | 'q8_0'): Promise<Server> {
  const port = await freePort();
  const log = join(folder, `${kind}.log`);
  const child = start(
    join(programs.theirs, 'llama-server'),
    [
      ...['--model', models.gguf(kind), '--host', '127.0.0.1', '--port', String(port), '--no-ui'],
      ...['--threads', String(threads), '--parallel', String(load.streams)],
      // Prompts that no request shares are not worth keeping: without it they are copied for later.
      ...['--ctx-size', String(512 * load.streams), '--cache-ram', '0'],
    ],
    log,
  );
  const server = { name: `llama-server ${kind.toUpperCase()}`, port, stop: () => stop(child) };
  try {
    await eventually('llama-server', async () => {
      if (child.exitCode !== null) return true;
      return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
    });
    if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8').slice(-2000));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

function report(figures: ReadonlyMap<Server, readonly LoadFigures[]>): void {
  console.log(
    `${threads} threads, ${load.streams} streams of ${load.promptTokens}/${load.outputTokens}, ${requests} requests a round; ` +
      `medians of ${rounds} rounds in turn\n`,
  );
  console.log(`| | ${loadMeasures.join(' | ')} |\n|${'---|'.repeat(loadMeasures.length + 1)}`);
  for (const [{ name }, taken] of figures) {
    const cells = loadMeasures.map((measure) => median(taken.map((one) => one[measure])).toFixed(1));
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
  const [ours, ...theirs] = [...figures.values()];
  const ratio = (measure: keyof typeof aims): string => {
    const best = measure === 'output tok/s' ? Math.max : Math.min;
    const ratios = ours!.map(
      (one, round) => one[measure] / best(...theirs.map((taken) => taken[round]![measure])),
    );
    return `${measure} ${median(ratios).toFixed(2)} (aim ${aims[measure]})`;
  };
  console.log(`\nFP8 to the better of BF16 and Q8_0: ${ratio('output tok/s')}, ${ratio('TTFT p50 ms')}`);
}

const before = loadBefore();
const programs = buildPrograms('native');
const models = new PeerModels(programs, 'qwen3');
const folder = mkdtempSync(join(tmpdir(), 'llmservice-peers-'));
const servers: Server[] = [];
try {
  for (const begin of [startOurs, () => startTheirs('bf16'), () => startTheirs('q8_0')])
    servers.push(await begin());
  for (const { port } of servers)
    await measureLoad(port, { ...load, requests: load.streams, outputTokens: 8 });
  const disturbed = watchDisturbances(before);
  const figures = new Map<Server, LoadFigures[]>(servers.map((server) => [server, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const [server, taken] of figures) {
      taken.push(await measureLoad(server.port, load));
      console.error(`round ${round}, ${server.name}: ${JSON.stringify(taken.at(-1))}`);
    }
  }
  report(figures);
  for (const sentence of disturbed([1])) console.log(`not quiet: ${sentence}`);
} finally {
  await Promise.allSettled(servers.map((server) => server.stop()));
  models.remove();
  rmSync(folder, { recursive: true });
}
