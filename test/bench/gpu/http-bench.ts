// The whole model behind the HTTP server, on the device: cold start, first token, one sequence, and many at once.
// Prints JSON lines. usage: http-bench.ts RUNTIME MODEL cuda|hip|cpu [--quick]; RUNTIME: the compiled runtime's folder

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';

import { median } from '../../median.js';
import { promptOf, ServedModel, type Answer } from '../../gpu/served-model.js';
import type { HttpLine } from './bench-lines.js';

const quick = argv.includes('--quick');
const [runtime, model, accelerator] = argv.slice(2).filter((word) => !word.startsWith('--'));
if (runtime === undefined || model === undefined || accelerator === undefined)
  throw new Error('usage: http-bench.ts RUNTIME MODEL cuda|hip|cpu [--quick]');

const scale = quick
  ? { sequences: 2, prompt: 128, generated: 16, one: 70, oneGenerated: 16, rounds: 1 }
  : { sequences: 16, prompt: 8192, generated: 1024, one: 1024, oneGenerated: 256, rounds: 5 };
const startLimitMs = 300_000;

const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8')) as {
  readonly text_config: { readonly vocab_size: number };
};
const vocab = config.text_config.vocab_size;
let seed = 0;
const prompt = (length: number): number[] => promptOf(length, vocab, (seed += 1));

const say = (what: string, value: number, unit: string): void => {
  const line: HttpLine = { section: 'http', what, value, unit };
  console.log(JSON.stringify(line));
};

/** Whether the files of the model will be read from the disk. */
function forgetFiles(): boolean {
  try {
    execFileSync('sync');
    writeFileSync('/proc/sys/vm/drop_caches', '3');
    return true;
  } catch {
    return false;
  }
}

async function ask(server: ServedModel, length: number, tokens: number): Promise<Answer> {
  const answer = await server.ask(prompt(length), tokens);
  if (!answer.isComplete) throw new Error(`no whole answer (${answer.status}): ${server.log}`);
  return answer;
}

const from = !quick && forgetFiles() ? 'from the disk' : 'from the cache of files';
const length = Math.max(scale.prompt + scale.generated, scale.one + scale.oneGenerated);
const server = await ServedModel.start(runtime, model, [
  ...['--accelerator', accelerator, '--max-num-seqs', String(scale.sequences)],
  ...['--max-model-len', String(length), '--enable-prefix-caching', 'false'],
  // Of a machine's memory the tiny model takes little.
  ...(quick ? ['--memory-bytes', String(2 ** 30)] : []),
]);
try {
  const { loaded, serving } = await server.serving(startLimitMs);
  const first = await ask(server, 1, 1);
  if (loaded !== null) say(`cold start, weights ${from}: until they are loaded`, loaded / 1000, 's');
  say(`cold start, weights ${from}: until it serves`, serving / 1000, 's');
  if (loaded !== null)
    say('between both: caches, and graphs if any are made', (serving - loaded) / 1000, 's');
  say(`cold start, weights ${from}: until the first token`, (serving + first.firstMs) / 1000, 's');

  const firsts: number[] = [];
  for (let i = 0; i < scale.rounds; i += 1) firsts.push((await ask(server, scale.prompt, 1)).firstMs);
  say(`first token after ${scale.prompt}`, median(firsts), 'ms');

  const steps: number[] = [];
  for (let i = 0; i < scale.rounds; i += 1) {
    const { firstMs, lastMs } = await ask(server, scale.one, scale.oneGenerated);
    steps.push((lastMs - firstMs) / (scale.oneGenerated - 1));
  }
  say(`1 sequence after ${scale.one} tokens: a token`, median(steps), 'ms');

  const begin = performance.now();
  const answers = Array.from({ length: scale.sequences }, () => ask(server, scale.prompt, scale.generated));
  await Promise.all(answers);
  const seconds = (performance.now() - begin) / 1000;
  const name = `${scale.sequences} sequences, ${scale.prompt} in and ${scale.generated} out`;
  say(name, (scale.sequences * (scale.prompt + scale.generated)) / seconds, 'tokens/s in all');
} finally {
  await server.stop();
}
