// What speculation gains on the demo model: tokens per second of one greedy stream, without drafts, by n-gram and by the
// model's own layer; as it is, and with its feed-forward padded by zeros, so that reading weights is what a step costs.
// All take turns at each question, since others may load the machine more in one minute than in the next. Fails when drafts
// change a token. Run: npx tsx test/bench/speculation.ts [ROUNDS [QUESTIONS [FACTOR...]]], 5, 24, and 1 and 64 by default.

import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { loadEngine, type Engine, type Speculation } from '@llmservice/native';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { readModelFiles } from '../../runtime/src/load-model.js';
import { makeLogger } from '../../runtime/src/log/logger.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { writeBroadModel } from '../builders/broad-model.js';
import { median } from '../median.js';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const demo = folder('../../deploy/demo-model/checkpoint');
const [rounds = 5, asked = 24, ...factors] = process.argv.slice(2).map(Number);
const kinds = [
  { method: 'none', tokens: 0 },
  { method: 'ngram', tokens: 4 },
  { method: 'mtp', tokens: 1 },
  { method: 'mtp', tokens: 3 },
] as const;

async function readPrompts(): Promise<Int32Array[]> {
  const { tokenizer, chatTemplate, processes } = await readModelFiles(demo, makeLogger('error'));
  await processes.close();
  if (chatTemplate === null) throw new Error('the demo model has no chat template');
  const lines = readFileSync(folder('../../deploy/demo-model/questions/llmservice.txt'), 'utf8').split('\n');
  const questions = lines.filter((line) => /^\w.* \| /.test(line)).slice(0, asked);
  const texts = await Promise.all(
    questions.map((line) =>
      chatTemplate.render({ messages: [{ role: 'user', content: `${line.split(' | ')[0]}?` }] }),
    ),
  );
  return Promise.all(texts.map((text) => tokenizer.encode(text, { addSpecialTokens: false })));
}

/** One engine, and what it said of late. */
class Speaker {
  /** To each prompt of the round. */
  answers: number[][] = [];
  steps = 0;
  /** Of each round. */
  readonly seconds: number[] = [];
  #asked = 0;

  private constructor(
    readonly speculative: Speculation,
    private readonly engine: Engine,
    private readonly scheduler: Scheduler,
  ) {}

  static async load(modelDir: string, speculative: Speculation): Promise<Speaker> {
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
    // One for all answers: it sends the engine with an answer's first step that the last one's slots are free.
    return new Speaker(speculative, engine, new Scheduler({ prefixCaching: false, hybrid: true, ...room }));
  }

  get name(): string {
    const { method, tokens } = this.speculative;
    return method === 'none' ? 'none' : `${method}, ${tokens}`;
  }

  get tokens(): number {
    return this.answers.flat().length;
  }

  begin(): void {
    this.answers = [];
    this.steps = 0;
    this.seconds.push(0);
  }

  async answer(prompt: Int32Array, stopTokens: Int32Array): Promise<void> {
    const { engine, scheduler } = this;
    const answer: number[] = [];
    this.answers.push(answer);
    scheduler.add(generateRequest(String(this.#asked++), prompt, { maxTokens: 80, stopTokens }));
    const start = performance.now();
    for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
      const { sampled } = scheduler.postprocess(await engine.step(step.plan));
      answer.push(...sampled.map(({ token }) => token));
      this.steps++;
    }
    this.seconds[this.seconds.length - 1]! += (performance.now() - start) / 1000;
  }

  async dispose(): Promise<void> {
    await this.engine.dispose();
  }
}

function report(factor: number, speakers: readonly Speaker[]): void {
  const [plain] = speakers;
  for (const { name, tokens, steps, seconds, answers } of speakers) {
    const gain = median(seconds.map((one, round) => plain!.seconds[round]! / one));
    const rates = `${(tokens / steps).toFixed(2)} | ${(tokens / median(seconds)).toFixed(0)} | ${gain.toFixed(2)}`;
    console.log(`| × ${factor} | ${name} | ${tokens} | ${steps} | ${rates} |`);
    const changed = answers.filter((answer, i) => !isDeepStrictEqual(answer, plain!.answers[i])).length;
    if (changed === 0) continue;
    console.log(`${changed} answers have other tokens than without drafts.`);
    process.exitCode = 1;
  }
}

const prompts = await readPrompts();
const { defaults, processes } = await readModelFiles(demo, makeLogger('error'));
await processes.close();
const stops = Int32Array.from(defaults.eosIds);
console.log(
  '| feed-forward | drafts | tokens | steps | tokens per step | tok/s | to none |\n|---|---|---|---|---|---|---|',
);
for (const factor of factors.length > 0 ? factors : [1, 64]) {
  const modelDir = writeBroadModel(demo, factor);
  const speakers: Speaker[] = [];
  for (const speculative of kinds) speakers.push(await Speaker.load(modelDir, speculative));
  // The first round touches all memory, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const speaker of speakers) speaker.begin();
    for (const prompt of prompts) for (const speaker of speakers) await speaker.answer(prompt, stops);
    if (round === 0) for (const { seconds } of speakers) seconds.pop();
  }
  report(factor, speakers);
  for (const speaker of speakers) await speaker.dispose();
  rmSync(modelDir, { recursive: true });
}
