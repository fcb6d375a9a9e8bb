// The same 64 requests alone, in one batch, in random order, preempted, and from the prefix cache: identical logits and
// tokens, to the bit. In the fast run one model of every architecture; GOLDEN_WIDE=1 takes all models and machines.

import { readdirSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Engine, EngineOptions } from '@llmservice/native';
import { cpuIsas, loadEngine } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { oneOfEach, wide } from './breadth.js';
import { noDrafts } from './engine-driver.js';
import { atOnce, inRandomOrder, sixtyFourRequests } from './identity-requests.js';
import { modelsDir, readGolden } from './reference-bar.js';
import type { Answer } from './scheduled-run.js';
import { serve } from './scheduled-run.js';

jest.setTimeout(300_000);

/** These with KV in fp8 too: attention alone, and a hybrid. */
const oneOfEachKind = ['llama-bf16', 'qwen3_5-bf16'];
const models = wide ? readdirSync(modelsDir) : oneOfEach;
const isas = wide ? (cpuIsas() as EngineOptions['isa'][]) : (['auto'] as const);
const dtypes = wide ? (['bfloat16', 'float32'] as const) : (['auto'] as const);
const kvCacheDtypes = ['auto', 'fp8'] as const;
const cases = isas
  .flatMap((isa) =>
    dtypes.flatMap((dtype) =>
      kvCacheDtypes.flatMap((kvCacheDtype) => models.map((model) => ({ isa, dtype, kvCacheDtype, model }))),
    ),
  )
  .filter(({ kvCacheDtype, model }) => wide || kvCacheDtype === 'auto' || oneOfEachKind.includes(model));

const room = {
  blockSize: 16,
  numBlocks: 1024,
  maxNumSeqs: 64,
  numStateSnapshots: 64,
  maxModelLen: 256,
  maxNumBatchedTokens: 1024,
  speculative: noDrafts,
};
/** Enough for any one request, and for few at once. */
const fewBlocks = 24;

describe.each(cases)('$model on $isa in $dtype, KV $kvCacheDtype', ({ isa, dtype, kvCacheDtype, model }) => {
  const requests = sixtyFourRequests(readGolden(model).teacherForced.ids);
  const limits = { ...room, prefixCaching: false };
  const alone = new Map<string, Answer>();
  let engine: Engine;
  beforeAll(async () => {
    engine = await loadEngine(
      {
        ...{ ...plainOptions, ...room, modelDir: modelsDir + model },
        ...{ isa, dtype, kvCacheDtype, threads: 2, logitHashes: true },
      },
      () => undefined,
    );
    for (const request of requests) {
      const { answers } = await serve(engine, limits, atOnce([request]));
      alone.set(request.id, answers.get(request.id)!);
    }
  });
  afterAll(() => engine.dispose());

  test('64 different requests, each with a hash per token', () => {
    const answers = [...alone.values()];
    expect(answers).toHaveLength(64);
    for (const { tokens, logitHashes } of answers) expect(logitHashes).toHaveLength(tokens.length);
    expect(new Set(answers.flatMap(({ logitHashes }) => logitHashes)).size).toBeGreaterThan(400);
  });

  test('in one batch', async () => {
    expect((await serve(engine, limits, atOnce(requests))).answers).toEqual(alone);
  });

  test.each([1, 2])('in random order and small steps, seed %i', async (seed) => {
    const small = { ...limits, maxNumSeqs: 13, maxNumBatchedTokens: 13 + 64 };
    expect((await serve(engine, small, inRandomOrder(requests, seed))).answers).toEqual(alone);
  });

  test('preempted for lack of KV blocks', async () => {
    const { answers, stats } = await serve(engine, { ...limits, numBlocks: fewBlocks }, atOnce(requests));
    expect(answers).toEqual(alone);
    expect(stats.preemptionsTotal).toBeGreaterThan(3);
  });

  test('with what others had in the prefix cache', async () => {
    const cached = { ...limits, prefixCaching: true };
    const { answers, stats } = await serve(engine, cached, inRandomOrder(requests, 3));
    expect(answers).toEqual(alone);
    expect(stats.prefixCacheHitsTotal).toBeGreaterThan(1000);
  });

  test('with the prefix cache and preempted', async () => {
    const few = { ...limits, prefixCaching: true, numBlocks: fewBlocks, numStateSnapshots: 5 };
    const { answers, stats } = await serve(engine, few, atOnce(requests));
    expect(answers).toEqual(alone);
    expect(stats.preemptionsTotal).toBeGreaterThan(3);
    expect(stats.prefixCacheHitsTotal).toBeGreaterThan(0);
  });
});
