// Chats that branch, on real engines: a tree of 5 turns of 400 tokens, of which each is answered 4 times, each time
// otherwise, before the chat continues with the first answer. Most of what is asked was asked before, and what the cache
// has of it changes no bit of an answer.

import { fileURLToPath } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { loadEngine, type Engine } from '@llmservice/native';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { generateRequest, greedy } from '../../runtime/src/schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../../runtime/src/schedule/generation.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';

// Seconds on an idle machine.
jest.setTimeout(180_000);

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const turns = 5;
const branches = 4;
const questionTokens = 368;
const answerTokens = 32;

const limits = {
  blockSize: 16,
  numBlocks: 700,
  maxNumSeqs: 4,
  maxNumBatchedTokens: 512,
  maxModelLen: 2560,
  speculative: { method: 'none', tokens: 0 },
} as const;

interface Answer {
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly cachedTokens: number;
}

/** Runs one request alone to its end. */
async function ask(engine: Engine, scheduler: Scheduler, asked: GenerateRequest): Promise<Answer> {
  scheduler.add(asked);
  const answer = { tokens: [] as number[], logprobs: [] as number[], cachedTokens: 0 };
  for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
    for (const { cachedTokens } of step.started) answer.cachedTokens = cachedTokens;
    for (const { token, logprobs } of scheduler.postprocess(await engine.step(step.plan)).sampled) {
      answer.tokens.push(token);
      answer.logprobs.push(logprobs!.logprob, ...logprobs!.top.map(({ logprob }) => logprob));
    }
  }
  return answer;
}

function question(turn: number, vocab: number): number[] {
  let state = 77 + turn;
  return Array.from({ length: questionTokens }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % vocab;
  });
}

/** The whole tree, turn by turn and branch by branch. */
async function chat(modelDir: string, hybrid: boolean, prefixCaching: boolean) {
  const numStateSnapshots = hybrid && prefixCaching ? 16 : 0;
  const options = { ...plainOptions, modelDir, ...limits, numStateSnapshots };
  const engine = await loadEngine(options, () => undefined);
  const scheduler = new Scheduler({ ...limits, numStateSnapshots, prefixCaching, hybrid });
  const answers: (Answer & { readonly promptTokens: number })[] = [];
  let [history, boundaries]: [number[], number[]] = [[], []];
  try {
    for (let turn = 0; turn < turns; turn++) {
      const prompt = [...history, ...question(turn, engine.info.vocabSize)];
      boundaries = [...boundaries, prompt.length];
      for (let branch = 0; branch < branches; branch++) {
        const sampling = { ...greedy, temperature: 0.9, seed: BigInt(branch), topLogprobs: 2 };
        const asked = generateRequest(`${String(turn)}.${String(branch)}`, prompt, {
          maxTokens: answerTokens,
          sampling,
          boundaries,
        });
        answers.push({ ...(await ask(engine, scheduler, asked)), promptTokens: prompt.length });
      }
      history = [...prompt, ...answers.at(-branches)!.tokens];
    }
  } finally {
    await engine.dispose();
  }
  return answers;
}

describe.each([
  ['the demo model, a hybrid', '../../deploy/demo-model/checkpoint', true],
  ['a hybrid with experts', '../golden/models/qwen3_5_moe-bf16', true],
  ['an attention model', '../golden/models/llama-bf16', false],
])('%s', (_, path, hybrid) => {
  test('finds over 80 % of all prompt tokens in the cache, and answers with the bits that it has without', async () => {
    const on = await chat(folder(path), hybrid, true);
    const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
    const rate =
      sum(on.map(({ cachedTokens }) => cachedTokens)) / sum(on.map(({ promptTokens }) => promptTokens));
    process.stdout.write(
      `branching chats on ${path}: ${(100 * rate).toFixed(1)} % of prompt tokens cached\n`,
    );
    expect(rate).toBeGreaterThan(0.8);
    const off = await chat(folder(path), hybrid, false);
    expect(off.every(({ cachedTokens }) => cachedTokens === 0)).toBe(true);
    const said = (answers: typeof on) => answers.map(({ tokens, logprobs }) => ({ tokens, logprobs }));
    expect(said(on)).toEqual(said(off));
    // The branches of a turn do differ.
    expect(new Set(on.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(turns * branches - 3);
  });
});
