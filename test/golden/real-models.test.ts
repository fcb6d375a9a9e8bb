// A trained model, as a Python package holds it: perplexity of a text and greedy answers to plain questions beside those of
// transformers in float32 (generate/real.py).

import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { openLocalModel } from '@llmservice/checkpoint/local';
import type { EngineOptions } from '@llmservice/native';
import { readTokenizer } from '../../runtime/src/checkpoint/read-text-files.js';
import type { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';
import { loadGolden, run, score } from './engine-driver.js';
import { clearSteps } from './golden-values.js';
import { fixedText, perplexity, provide, readTrainedGolden } from './real/trained-model.js';
import { job } from './reference-bar.js';

jest.setTimeout(300_000);

const golden = readTrainedGolden('smollm2');
const wanted = perplexity(golden.text.logprobs);
const model = provide('smollm2');
const why = model === null ? ' (skipped: its package is not here and cannot be fetched)' : '';

(model === null ? describe.skip : describe)(`SmolLM2-135M-Instruct in Q4_1${why}`, () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await readTokenizer(model!, (await openLocalModel(model!)).gguf);
  });

  test('its tokenizer reads a text as transformers does', async () => {
    const ids = [...(await tokenizer.encode(fixedText(), { addSpecialTokens: false }))];
    expect(ids.slice(0, golden.text.ids.length)).toEqual(golden.text.ids);
  });

  test.each<[string, Partial<EngineOptions> & Pick<EngineOptions, 'dtype'>, number, number]>([
    ['float32', { isa: 'float32', dtype: 'float32' }, 1, 0.0001],
    ['the machine’s best lanes', { dtype: 'bfloat16' }, 1, 0.002],
    ['keys and values in FP8', { dtype: 'bfloat16', kvCacheDtype: 'fp8' }, 1, 0.02],
    ['three ranks', { isa: 'float32', dtype: 'float32' }, 3, 0.0001],
  ])('perplexity with %s is that of transformers', async (_name, how, ranks, allowed) => {
    const engine = await loadGolden(model!, { ...how, threads: 2 }, ranks);
    try {
      const { logprobs } = await score(engine, golden.text.ids, 512);
      expect(Math.abs(perplexity(logprobs) / wanted - 1)).toBeLessThan(allowed);
    } finally {
      await engine.dispose();
    }
  });

  test('answers plain questions with the tokens of transformers, up to the first close call', async () => {
    const engine = await loadGolden(model!, { isa: 'float32', dtype: 'float32', threads: 2 });
    try {
      const jobs = golden.answers.map(({ prompt, tokens }, slot) =>
        job(slot, prompt, { count: tokens.length }),
      );
      const answers = await run(engine, jobs);
      const texts = answers.map(({ tokens }) => tokenizer.decode(tokens, { skipSpecialTokens: true }));
      golden.answers.forEach((answer, i) => {
        const steps = clearSteps({ ...answer, logprobs: [] }, 0.02);
        expect(answers[i]!.tokens.slice(0, steps)).toEqual(answer.tokens.slice(0, steps));
      });
      expect(texts[0]).toContain('Paris');
    } finally {
      await engine.dispose();
    }
  });
});
