// What is left of each engine's speed with busy loops beside it, one for each of its threads: a prompt of 512 tokens and a sequence
// after it, with and without the loops in turn. The same random model for ours and for llama.cpp.
// usage: tsx test/bench/busy.ts [ROUNDS]; a round takes two minutes, the first one three. Needs 4 GB of disk and of memory.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { median } from '../median.js';
import { LlamaCpp } from './peers/llama-cpp.js';
import { LlmService } from './peers/llmservice.js';
import { buildPrograms, PeerModels } from './peers/models.js';
import { loadBefore, watchDisturbances } from './peers/quiet.js';

const [rounds = 3] = process.argv.slice(2).map(Number);
const aim = 0.4;
const threads = availableParallelism();
const prompt = 512;
const measures = ['prefill', 'decode'] as const;

/** Tokens a second. */
type Speeds = Readonly<Record<(typeof measures)[number], number>>;

interface Engine {
  readonly name: string;
  speeds(): Speeds;
}

/** Ends with this process, however that ends. */
const loop = 'for (const parent = process.ppid; process.ppid === parent; );';

function besideLoops(engine: Engine): Speeds {
  const loops = Array.from({ length: threads }, () =>
    spawn(process.execPath, ['-e', loop], { stdio: 'ignore' }),
  );
  try {
    return engine.speeds();
  } finally {
    for (const each of loops) each.kill('SIGKILL');
  }
}

const load = loadBefore();
const programs = buildPrograms('native');
const models = new PeerModels(programs, 'qwen3');
try {
  const ours = new LlmService(programs.ours, models.checkpoint('FP8'), 'qwen3', 'FP8', 'auto');
  const engines: Engine[] = [
    { name: 'llmservice FP8', speeds: () => ours.linesOf([`1:${prompt}`])[0]! },
    ...(['bf16', 'q8_0'] as const).map((kind) => {
      const theirs = new LlamaCpp(programs.theirs, models.gguf(kind), kind.toUpperCase(), threads);
      return { name: `llama.cpp ${theirs.format}`, speeds: () => theirs.one(prompt) };
    }),
  ];
  const taken = new Map(engines.map((engine) => [engine, { quiet: [] as Speeds[], busy: [] as Speeds[] }]));
  // Once before it counts: files come into memory.
  for (const engine of engines) engine.speeds();
  const disturbed = watchDisturbances(load);
  for (let round = 1; round <= rounds; round++) {
    for (const [engine, { quiet, busy }] of taken) {
      quiet.push(engine.speeds());
      busy.push(besideLoops(engine));
      console.error(
        `round ${round}, ${engine.name}: ${quiet.at(-1)!.decode} and ${busy.at(-1)!.decode} tok/s of decode`,
      );
    }
  }
  console.log(`${threads} threads beside ${threads} busy loops; medians of ${rounds} rounds in turn\n`);
  console.log(
    '| | prefill, tok/s | beside loops | share | decode, tok/s | beside loops | share |\n|---|---|---|---|---|---|---|',
  );
  for (const [{ name }, { quiet, busy }] of taken) {
    const cells = measures.flatMap((measure) => [
      median(quiet.map((one) => one[measure])).toFixed(1),
      median(busy.map((one) => one[measure])).toFixed(1),
      `${(100 * median(busy.map((one, round) => one[measure] / quiet[round]![measure]))).toFixed(0)} %`,
    ]);
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
  console.log(`\naim of ours: ${100 * aim} % of each`);
  for (const sentence of disturbed([1])) console.log(`not quiet: ${sentence}`);
} finally {
  models.remove();
}
