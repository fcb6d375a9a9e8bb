// What speculation gains on the demo model: tokens per second of one greedy stream, without drafts, by n-gram and by the
// model's own layer; as it is, and with its feed-forward padded by zeros, so that reading weights is what a step costs.
// Fails when drafts change a token. Run: npx tsx test/bench/speculation.ts [FACTOR...], 1 and 64 by default.

import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { loadEngine, type Speculation } from '@llmservice/native';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { readModelFiles } from '../../runtime/src/load-model.js';
import { makeLogger } from '../../runtime/src/log/logger.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { writeBroadModel } from '../builders/broad-model.js';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const demo = folder('../../deploy/demo-model/checkpoint');
const rounds = 1;

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

interface Measured {
  /** What was said to each prompt. */
  readonly answers: readonly (readonly number[])[];
  readonly tokens: number;
  readonly steps: number;
  readonly seconds: number;
}

/** Tokens, steps and seconds of all prompts, one after another; the median round by time. */
async function measure(
  modelDir: string,
  speculative: Speculation,
  prompts: readonly Int32Array[],
  stops: Int32Array,
): Promise<Measured> {
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
  const measured: Measured[] = [];
  // One for all rounds: it sends the engine with a round's first step that the last one's slots are free.
  const scheduler = new Scheduler({ prefixCaching: false, hybrid: true, ...room });
  for (let round = 0; round < rounds; round++) {
    const answers = prompts.map((): number[] => []);
    prompts.forEach((prompt, i) =>
      scheduler.add(generateRequest(`${round}-${i}`, prompt, { maxTokens: 80, stopTokens: stops })),
    );
    const start = performance.now();
    let steps = 0;
    for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
      const { sampled } = scheduler.postprocess(await engine.step(step.plan));
      for (const { id, token } of sampled) answers[Number(id.split('-')[1])]!.push(token);
      steps++;
    }
    const seconds = (performance.now() - start) / 1000;
    measured.push({ answers, tokens: answers.flat().length, steps, seconds });
  }
  await engine.dispose();
  return measured.sort((a, b) => a.seconds - b.seconds)[Math.floor(rounds / 2)]!;
}

const prompts = await readPrompts();
const { defaults, processes } = await readModelFiles(demo, makeLogger('error'));
await processes.close();
const factors = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 64];
console.log(
  '| feed-forward | drafts | tokens | steps | tokens per step | tok/s | to none |\n|---|---|---|---|---|---|---|',
);
for (const factor of factors) {
  const modelDir = writeBroadModel(demo, factor);
  let plain: Measured | null = null;
  for (const speculative of [
    { method: 'none', tokens: 0 },
    { method: 'mtp', tokens: 3 }, { method: 'none', tokens: 0 },
    { method: 'mtp', tokens: 3 }, {method:'none',tokens:0},
    { method: 'mtp', tokens: 3 },
  ] as const) {
    const stops = Int32Array.from(defaults.eosIds);
    const measured = await measure(modelDir, speculative, prompts, stops);
    const { answers, tokens, steps } = measured;
    plain ??= measured;
    const name = speculative.method === 'none' ? 'none' : `${speculative.method}, ${speculative.tokens}`;
    const rate = (one: Measured): number => one.tokens / one.seconds;
    const rates = `${(tokens / steps).toFixed(2)} | ${rate(measured).toFixed(0)} | ${(rate(measured) / rate(plain)).toFixed(2)}`;
    console.log(`| × ${factor} | ${name} | ${tokens} | ${steps} | ${rates} |`);
    const changed = answers.filter((answer, i) => !isDeepStrictEqual(answer, plain!.answers[i])).length;
    if (changed === 0) continue;
    console.log(`${changed} answers have other tokens than without drafts.`);
    process.exitCode = 1;
  }
  rmSync(modelDir, { recursive: true });
}
