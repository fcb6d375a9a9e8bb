// Scores of causal models by the logits of two tokens against transformers, through the request that the server makes.

import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { describe, expect, jest, test } from '@jest/globals';
import { cpuIsas, type Engine, type EngineOptions } from '@llmservice/native';

import { classifierRequest } from '../../runtime/src/request/prepare/prompt-request.js';
import { logitsOf, scoreOf, type Classifier } from '../../runtime/src/request/prepare/classifier.js';
import { emptyOutput } from '../../runtime/src/engine/output-queue.js';
import { atOnce } from '../../runtime/src/loop-turns.js';
import { sampledAt } from '../../runtime/src/schedule/sampled.js';
import { ask, loadGolden, room } from './engine-driver.js';
import { modelsDir } from './reference-bar.js';

jest.setTimeout(60_000);

/** scores.json of a model, as generate/ writes it. */
interface Golden {
  readonly tokens: readonly number[];
  readonly scored: readonly { readonly prompt: number[]; readonly score: number }[];
}

const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const models = readdirSync(modelsDir).filter((model) => existsSync(`${modelsDir}${model}/scores.json`));
const labels = { kind: 'tokens', names: ['no', 'yes'], activation: 'softmax' } as const;
const scheduling = { cacheSalt: null, fairnessKey: '', priority: null, maxQueueMs: null };

async function scoreWith(engine: Engine, prompt: readonly number[], classifier: Classifier): Promise<number> {
  const ids = Int32Array.from(prompt);
  const request = classifierRequest('a', ids, classifier, room.maxModelLen, scheduling);
  const result = await ask(engine, request);
  const { logprobs } = sampledAt(result, 0, 'a', false);
  const logits = atOnce(
    logitsOf(classifier, { ...emptyOutput, logprobs: logprobs === null ? null : [logprobs] }),
  );
  return scoreOf(classifier, logits ?? [], true);
}

describe.each(models)('%s', (model) => {
  const { tokens, scored } = JSON.parse(readFileSync(`${modelsDir}${model}/scores.json`, 'utf8')) as Golden;

  test.each([
    ['float32', 1, 3],
    ['float32', 2, 3],
    ['bfloat16', 1, 1],
  ] as const)('in %s on %i ranks: those of the reference', async (dtype, ranks, digits) => {
    const engine = await loadGolden(modelsDir + model, { isa, dtype, threads: 1 }, ranks);
    try {
      for (const { prompt, score } of scored)
        expect(await scoreWith(engine, prompt, { ...labels, tokens })).toBeCloseTo(score, digits);
    } finally {
      await engine.dispose();
    }
  });
});
