// What the rows of a step are worth on a CPU, without a server: eight streams of 128 tokens of prompt, by the most rows that a
// step may have, in turn. Row counts stand beside 0, which is 2048 rows at the pace of a served model. Processor time
// says what rows cost where other programs run too.
// usage: tsx test/bench/step-rows.ts FOLDER [ROUNDS [REQUESTS [OUTPUT_TOKENS [ROWS...]]]]

import { loadEngine, type Engine } from '@llmservice/native';
import { cpuPromptStepMs } from '../../runtime/src/engine/cpu-prompt-step.js';
import { planEngine } from '../../runtime/src/engine/plan-engine.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { promptOf } from '../gpu/served-model.js';
import { engineSettings } from '../integration/engine-settings.js';
import { median } from '../median.js';

const [folder = '', ...numbers] = process.argv.slice(2);
const [rounds = 3, requests = 16, outputTokens = 128, ...given] = numbers.map(Number);
const rowCounts = given.length > 0 ? given : [0, 256, 512, 2048];
const [streams, promptTokens, vocabulary] = [8, 128, 151_000];

interface Loaded {
  readonly engine: Engine;
  readonly scheduler: Scheduler;
}

/** One engine for each: its scheduler sends it which slots are free again. */
async function load(rows: number): Promise<Loaded> {
  const room = { maxNumSeqs: streams, maxNumBatchedTokens: rows > 0 ? rows : 2048, maxModelLen: 512 };
  const options = await planEngine(engineSettings(folder, { ...room, threads: null }));
  const engine = await loadEngine(options, () => undefined);
  const pace = rows > 0 ? {} : { promptStepMs: cpuPromptStepMs };
  const scheduler = new Scheduler({
    ...{ ...options, ...pace },
    ...{ prefixCaching: false, hybrid: engine.info.hybrid },
  });
  return { engine, scheduler };
}

/** Of one request, in milliseconds from its arrival. */
interface Answer {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly tokens: number;
}

interface Run {
  readonly ms: number;
  readonly cpuMs: number;
  readonly answers: readonly Answer[];
  /** Between two tokens of an answer. */
  readonly gaps: readonly number[];
}

let asked = 0;

async function run({ engine, scheduler }: Loaded, count: number, maxTokens: number): Promise<Run> {
  const answers = new Map<string, Answer>();
  const begun = new Map<string, number>();
  const gaps: number[] = [];
  let left = count;
  const ask = (): void => {
    if (left-- <= 0) return;
    const id = String((asked += 1));
    begun.set(id, performance.now());
    const prompt = Int32Array.from(promptOf(promptTokens, vocabulary, asked));
    scheduler.add(generateRequest(id, prompt, { maxTokens }));
  };
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let i = 0; i < streams; i++) ask();
  for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
    const { sampled } = scheduler.postprocess(await engine.step(step.plan));
    for (const { id, finish } of sampled) {
      const at = performance.now() - begun.get(id)!;
      const before = answers.get(id);
      if (before !== undefined) gaps.push(at - before.lastMs);
      answers.set(id, {
        firstMs: before?.firstMs ?? at,
        lastMs: at,
        tokens: (before?.tokens ?? 0) + 1,
      });
      if (finish !== null) ask();
    }
  }
  const ms = performance.now() - start;
  const used = process.cpuUsage(cpu);
  return { ms, cpuMs: (used.user + used.system) / 1000, answers: [...answers.values()], gaps };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** In the order of the columns. */
function figuresOf({ ms, cpuMs, answers, gaps }: Run): number[] {
  const firsts = answers.map(({ firstMs }) => firstMs);
  const tokens = answers.reduce((sum, answer) => sum + answer.tokens, 0);
  const times = answers.map((answer) => (answer.lastMs - answer.firstMs) / (answer.tokens - 1));
  return [
    ...[(tokens * 1000) / ms, cpuMs, quantile(firsts, 0.5), quantile(firsts, 0.99)],
    ...[median(times), quantile(gaps, 0.99)],
  ];
}

const loaded = new Map<number, Loaded>();
for (const rows of rowCounts) loaded.set(rows, await load(rows));
const figures = new Map<number, number[][]>(rowCounts.map((rows) => [rows, []]));
for (const one of loaded.values()) await run(one, 2, 2);
for (let round = 0; round < rounds; round++) {
  for (const [rows, one] of loaded)
    figures.get(rows)!.push(figuresOf(await run(one, requests, outputTokens)));
}
const columns = [
  'output tok/s',
  'processor ms',
  'TTFT p50 ms',
  'TTFT p99 ms',
  'TPOT p50 ms',
  'longest gap, p99 ms',
];
console.log(`| rows | ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length + 1)}`);
for (const [rows, taken] of figures) {
  const cells = columns.map((_, i) => median(taken.map((one) => one[i]!)).toFixed(1));
  console.log(`| ${rows > 0 ? rows : 'at the pace'} | ${cells.join(' | ')} |`);
}
for (const { engine } of loaded.values()) await engine.dispose();
