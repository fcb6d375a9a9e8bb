// What speculation gains on the demo model: tokens per second of one greedy stream, without drafts, by n-gram and by the
// model's own layer; as it is, and with its feed-forward padded by zeros, so that reading weights is what a step costs.
// Run: npx tsx test/bench/speculation.ts

import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { loadEngine, type Speculation } from '@llmservice/native';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { readModelFiles } from '../../runtime/src/load-model.js';
import { makeLogger } from '../../runtime/src/log/logger.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { writeBroadModel } from '../builders/broad-model.js';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const demo = folder('../../deploy/demo-model/checkpoint');
const rounds = 5;

async function readPrompts(): Promise<Int32Array[]> {
  const { tokenizer, chatTemplate, processes } = await readModelFiles(demo, makeLogger('error'));
  await processes.close();
  if (chatTemplate === null) throw new Error('the demo model has no chat template');
  const lines = readFileSync(folder('../../deploy/demo-model/questions/llmservice.txt'), 'utf8').split('\n');
  const questions = lines.filter((line) => /^\w.* \| /.test(line)).slice(0, 24);
  const texts = await Promise.all(
    questions.map((line) =>
      chatTemplate.render({ messages: [{ role: 'user', content: `${line.split(' | ')[0]}?` }] }),
    ),
  );
  return Promise.all(texts.map((text) => tokenizer.encode(text, { addSpecialTokens: false })));
}

/** Tokens, steps and seconds of all prompts, one after another; the median round by time. */
async function measure(
  modelDir: string,
  speculative: Speculation,
  prompts: readonly Int32Array[],
  stops: Int32Array,
) {
  const room = {
    blockSize: 16,
    numBlocks: 64,
    maxNumSeqs: 1,
    numStateSnapshots: 0,
    maxNumBatchedTokens: 256,
    maxModelLen: 512,
    speculative,
  };
  const options = { ...plainOptions, modelDir, threads: null, ...room };
  const engine = await loadEngine(options, () => undefined);
  const measured: { tokens: number; steps: number; seconds: number }[] = [];
  // One for all rounds: it sends the engine with a round's first step that the last one's slots are free.
  const scheduler = new Scheduler({ prefixCaching: false, hybrid: true, ...room });
  for (let round = 0; round < rounds; round++) {
    const before = scheduler.stats.generationTokensTotal;
    prompts.forEach((prompt, i) =>
      scheduler.add(generateRequest(`${round}-${i}`, prompt, { maxTokens: 80, stopTokens: stops })),
    );
    const start = performance.now();
    let steps = 0;
    for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
      scheduler.postprocess(await engine.step(step.plan));
      steps++;
    }
    measured.push({
      tokens: scheduler.stats.generationTokensTotal - before,
      steps,
      seconds: (performance.now() - start) / 1000,
    });
  }
  await engine.dispose();
  return measured.sort((a, b) => a.seconds - b.seconds)[Math.floor(rounds / 2)]!;
}

const prompts = await readPrompts();
const { defaults, processes } = await readModelFiles(demo, makeLogger('error'));
await processes.close();
console.log(
  '| feed-forward | drafts | tokens | steps | tokens per step | tok/s |\n|---|---|---|---|---|---|',
);
for (const factor of [1, 64]) {
  const modelDir = writeBroadModel(demo, factor);
  for (const speculative of [
    { method: 'none', tokens: 0 },
    { method: 'ngram', tokens: 4 },
    { method: 'mtp', tokens: 1 },
    { method: 'mtp', tokens: 3 },
  ] as const) {
    const stops = Int32Array.from(defaults.eosIds);
    const { tokens, steps, seconds } = await measure(modelDir, speculative, prompts, stops);
    const name = speculative.method === 'none' ? 'none' : `${speculative.method}, ${speculative.tokens}`;
    const rates = `${(tokens / steps).toFixed(2)} | ${(tokens / seconds).toFixed(0)}`;
    console.log(`| × ${factor} | ${name} | ${tokens} | ${steps} | ${rates} |`);
  }
  rmSync(modelDir, { recursive: true });
}
