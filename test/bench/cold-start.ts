// Seconds in which our engine loads a model of Qwen3-0.6B's shape in FP8 whose file is in the page cache, each time in a process of
// its own; of one build of llmservice_bench or of several in turn.
// usage: tsx test/bench/cold-start.ts [ROUNDS [PROGRAM...]]

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../median.js';
import { LlmService } from './peers/llmservice.js';
import { buildPrograms, PeerModels } from './peers/models.js';

const [rounds = '10', ...named] = process.argv.slice(2);
const aim = 0.5;

const built = buildPrograms('native');
const models = new PeerModels(built, 'qwen3');
try {
  const folder = models.checkpoint('FP8');
  const programs = named.length > 0 ? named : [built.ours];
  const taken = new Map(programs.map((program) => [program, [] as number[]]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [program, seconds] of taken) {
      readFileSync(join(folder, 'model.safetensors'));
      const engine = new LlmService(program, folder, 'qwen3', 'FP8', 'auto');
      seconds.push(engine.linesOf(['1:16'])[0]!.loadSeconds);
    }
  }
  console.log(`| | median s | least | most |\n|---|---|---|---|`);
  for (const [program, seconds] of taken) {
    const cells = [median(seconds), Math.min(...seconds), Math.max(...seconds)].map((one) => one.toFixed(2));
    console.log(`| ${[program, ...cells].join(' | ')} |`);
  }
  console.log(`aim: ${aim} s`);
} finally {
  models.remove();
}
