// What does the load of an adapter do to streams that run? Serves a model of some width, streams from it, has the list of adapters
// grow by one at a time, and compares the longest gap between two chunks of a stream while an adapter loads with the longest
// while none does.
// usage: tsx test/bench/adapter-gap.ts [ADAPTERS] (default 8, of rank 16 and of all linear layers)

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adapterListText } from '@llmservice/crds';
import { readFiles } from '../builders/files.js';
import { llamaConfig, llamaTensors } from '../builders/llama.js';
import { bf16Noise, safetensors } from '../builders/safetensors.js';
import { writeRandomAdapter } from '../integration/random-adapter.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { median } from '../median.js';

const count = Number(process.argv[2] ?? 8);
const streams = 2;
const rank = 16;
/** 6 layers of Qwen3-0.6B's width with the demo model's tokenizer: 0.2 GB in BF16. */
const size = { layers: 6, hidden: 1024, heads: 16, kvHeads: 8, headDim: 128, ffn: 3072, vocab: 2048 };

interface Span {
  readonly beginMs: number;
  readonly endMs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'llmservice-adapter-gap-'));
const at = (name: string): string => join(folder, name);
const names = Array.from({ length: count }, (_, each) => `adapter-${String(each)}`);

async function prepare(): Promise<void> {
  mkdirSync(at('model'));
  mkdirSync(at('list'));
  const { 'tokenizer.json': tokenizer = '', 'tokenizer_config.json': config = '' } =
    readFiles(demoCheckpoint);
  writeFileSync(at('model/tokenizer.json'), tokenizer);
  writeFileSync(at('model/tokenizer_config.json'), config);
  const context = { max_position_embeddings: 8192, torch_dtype: 'bfloat16' };
  writeFileSync(at('model/config.json'), JSON.stringify({ ...llamaConfig(size), ...context }));
  writeFileSync(at('model/model.safetensors'), safetensors(llamaTensors(size), bf16Noise()));
  for (const [seed, name] of names.entries()) await writeRandomAdapter(at('model'), at(name), { rank, seed });
}

/** When the chunks of one answer came. */
async function stream(replica: ReplicaProcess, signal: AbortSignal, arrivals: number[]): Promise<void> {
  const body = { prompt: 'The capital of', max_tokens: 7900, ignore_eos: true, stream: true };
  const response = await replica.post('/v1/completions', body, signal);
  try {
    const reader = response.body!.getReader();
    while (!(await reader.read()).done) arrivals.push(performance.now());
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const write = (listed: readonly string[]): void =>
  writeFileSync(at('list/adapters.json'), adapterListText(listed.map((name) => ({ name, uri: at(name) }))));

/** From the change of the list to the adapter's being served: what reads the list looks every second. */
async function loadEach(replica: ReplicaProcess): Promise<Span[]> {
  const spans: Span[] = [];
  for (const [each] of names.entries()) {
    const beginMs = performance.now();
    write(names.slice(0, each + 1));
    while ((await replica.health()).adapters?.loaded.length !== each + 1) await sleep(20);
    spans.push({ beginMs, endMs: performance.now() });
    await sleep(500);
  }
  return spans;
}

function longest(arrivals: readonly number[][], within: (beginMs: number, endMs: number) => boolean): number {
  const gaps = arrivals.flatMap((times) =>
    times.slice(1).flatMap((endMs, each) => {
      const beginMs = times[each] ?? endMs;
      return within(beginMs, endMs) ? [endMs - beginMs] : [];
    }),
  );
  return Math.max(0, ...gaps);
}

async function measure(): Promise<void> {
  const engine = { maxModelLen: 8192, maxNumSeqs: 4, memoryUtilizationPercent: 100 };
  const env = { LLMSERVICE_ADAPTERS_DIR: at('list'), LLMSERVICE_MAX_ADAPTERS: String(count) };
  const replica = await ReplicaProcess.start({ uri: at('model'), engine, env });
  const ended = new AbortController();
  try {
    await replica.ready();
    const arrivals = Array.from({ length: streams }, (): number[] => []);
    const running = arrivals.map((times) => stream(replica, ended.signal, times));
    await sleep(3_000);
    const quietFromMs = performance.now();
    await sleep(8_000);
    const quietToMs = performance.now();
    const spans = await loadEach(replica);
    ended.abort();
    await Promise.all(running);
    const quiet = longest(arrivals, (begin, end) => begin >= quietFromMs && end <= quietToMs);
    const loading = spans.map(({ beginMs, endMs }) =>
      longest(arrivals, (begin, end) => end > beginMs && begin < endMs),
    );
    if (loading.includes(0)) throw new Error('the streams ended before the last adapter was loaded');
    console.log(`${String(streams)} streams alone: longest gap ${quiet.toFixed(0)} ms`);
    console.log(
      `while one of ${String(count)} adapters loads: longest gap ${Math.max(...loading).toFixed(0)} ms, ` +
        `median of the longest ${median(loading).toFixed(0)} ms`,
    );
  } finally {
    ended.abort();
    await replica.stop();
  }
}

try {
  await prepare();
  await measure();
} finally {
  rmSync(folder, { recursive: true });
}
