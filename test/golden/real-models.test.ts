// A trained model, as a Python package holds it: perplexity of a text and greedy answers to plain questions beside those of
// transformers in float32 (generate/real.py).

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { openLocalModel } from '@llmservice/checkpoint/local';
import type { EngineOptions } from '@llmservice/native';
import { readTokenizer } from '../../runtime/src/checkpoint/read-text-files.js';
import type { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';
import { loadGolden, run, score } from './engine-driver.js';
import { clearSteps } from './golden-values.js';
import { job } from './reference-bar.js';

jest.setTimeout(300_000);

const folder = fileURLToPath(new URL('real/', import.meta.url));
const provide = fileURLToPath(new URL('../../deploy/local/model.sh', import.meta.url));
const golden = JSON.parse(readFileSync(`${folder}smollm2.json`, 'utf8')) as {
  readonly text: { readonly ids: number[]; readonly logprobs: number[] };
  readonly answers: readonly {
    readonly question: string;
    readonly prompt: number[];
    readonly tokens: number[];
    readonly margins: number[];
    readonly text: string;
  }[];
};
const perplexity = (logprobs: readonly number[]): number =>
  Math.exp(-logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length);
const wanted = perplexity(golden.text.logprobs);

describe('SmolLM2-135M-Instruct in Q4_1', () => {
  let model: string;
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    const env = { ...process.env, MODEL: 'smollm2' };
    model = execFileSync(provide, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'inherit'] }).trim();
    tokenizer = await readTokenizer(model, (await openLocalModel(model)).gguf);
  });

  test('its tokenizer reads a text as transformers does', async () => {
    const text = readFileSync(`${folder}lighthouse.txt`, 'utf8');
    const ids = [...(await tokenizer.encode(text, { addSpecialTokens: false }))];
    expect(ids.slice(0, golden.text.ids.length)).toEqual(golden.text.ids);
  });

  test.each<[string, Partial<EngineOptions> & Pick<EngineOptions, 'dtype'>, number, number]>([
    ['float32', { isa: 'float32', dtype: 'float32' }, 1, 0.0001],
    ['the machine’s best lanes', { dtype: 'bfloat16' }, 1, 0.002],
    ['keys and values in FP8', { dtype: 'bfloat16', kvCacheDtype: 'fp8' }, 1, 0.02],
    ['three ranks', { isa: 'float32', dtype: 'float32' }, 3, 0.0001],
  ])('perplexity with %s is that of transformers', async (_name, how, ranks, allowed) => {
    const engine = await loadGolden(model, { ...how, threads: 2 }, ranks);
    try {
      const { logprobs } = await score(engine, golden.text.ids, 512);
      expect(Math.abs(perplexity(logprobs) / wanted - 1)).toBeLessThan(allowed);
    } finally {
      await engine.dispose();
    }
  });

  test('answers plain questions with the tokens of transformers, up to the first close call', async () => {
    const engine = await loadGolden(model, { isa: 'float32', dtype: 'float32', threads: 2 });
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
