// What speculation gains on the demo model: tokens per second of one greedy stream, without drafts, by n-gram and by the
// model's own layer; as it is, and with its feed-forward padded by zeros, so that reading weights is what a step costs.
// All take turns at each question, since others may load the machine more in one minute than in the next. Decoding is what
// comes behind an answer's first token; whole answers stand beside it, whose prompts cost all the same. Fails when drafts
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
  /** Of each round: of decoding, and of prompts besides. */
  readonly decoding: number[] = [];
  readonly whole: number[] = [];
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
    this.decoding.push(0);
    this.whole.push(0);
  }

  /** The last round does not count. */
  forget(): void {
    this.decoding.pop();
    this.whole.pop();
  }

  async answer(prompt: Int32Array, stopTokens: Int32Array): Promise<void> {
    const { engine, scheduler } = this;
    const answer: number[] = [];
    this.answers.push(answer);
    scheduler.add(generateRequest(String(this.#asked++), prompt, { maxTokens: 80, stopTokens }));
    const start = performance.now();
    let firstAt: number | null = null;
    for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
      const { sampled } = scheduler.postprocess(await engine.step(step.plan));
      answer.push(...sampled.map(({ token }) => token));
      this.steps++;
      if (answer.length > 0) firstAt ??= performance.now();
    }
    const end = performance.now();
    this.whole[this.whole.length - 1]! += (end - start) / 1000;
    this.decoding[this.decoding.length - 1]! += (end - (firstAt ?? end)) / 1000;
  }

  async dispose(): Promise<void> {
    await this.engine.dispose();
  }
}

function report(factor: number, speakers: readonly Speaker[]): void {
  const [plain] = speakers;
  for (const { name, tokens, steps, decoding, whole, answers } of speakers) {
    // The last round's tokens and steps; those of all rounds are alike.
    const decoded = tokens - answers.length;
    const gain = (of: 'decoding' | 'whole'): string =>
      median((of === 'whole' ? whole : decoding).map((one, round) => plain![of][round]! / one)).toFixed(2);
    const rates = `${(tokens / steps).toFixed(2)} | ${(decoded / median(decoding)).toFixed(0)}`;
    console.log(
      `| × ${factor} | ${name} | ${tokens} | ${steps} | ${rates} | ${gain('decoding')} | ${gain('whole')} |`,
    );
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
  '| feed-forward | drafts | tokens | steps | tokens per step | decode tok/s | to none | whole answers to none |\n' +
    '|---|---|---|---|---|---|---|---|',
);
for (const factor of factors.length > 0 ? factors : [1, 64]) {
  const modelDir = writeBroadModel(demo, factor);
  const speakers: Speaker[] = [];
  for (const speculative of kinds) speakers.push(await Speaker.load(modelDir, speculative));
  // The first round touches all memory, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const speaker of speakers) speaker.begin();
    for (const prompt of prompts) for (const speaker of speakers) await speaker.answer(prompt, stops);
    if (round === 0) for (const speaker of speakers) speaker.forget();
  }
  report(factor, speakers);
  for (const speaker of speakers) await speaker.dispose();
  rmSync(modelDir, { recursive: true });
}
