// Contexts of up to 262,144 positions: the reference's logprobs at the end of a text of 8192 tokens, the same bits
// however the text is cut, and a workspace that does not grow with the context. GOLDEN_WIDE=1 reads 131,372 tokens too.

import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Admission, Engine, EngineOptions } from '@llmservice/native';
import { loadEngine } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { emptyPlan } from '../../native/ts/step-plan.fixture.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { wide } from './breadth.js';
import { greedy, noDrafts } from './engine-driver.js';
import { furthest, modelsDir, tolerance } from './golden-values.js';
import { atOnce } from './identity-requests.js';
import { serve } from './scheduled-run.js';

jest.setTimeout(1_800_000);

const longest = 262_144;
const blockSize = 64;
const room = {
  blockSize,
  numBlocks: longest / blockSize,
  maxNumSeqs: 2,
  numStateSnapshots: 4,
  maxModelLen: longest,
  maxNumBatchedTokens: 2048,
  speculative: noDrafts,
};

async function load(model: string, changes: Partial<EngineOptions> = {}): Promise<Engine> {
  const how = { ...plainOptions, dtype: 'float32', threads: 2, logitHashes: true } as const;
  return loadEngine({ ...how, modelDir: modelsDir + model, ...room, ...changes }, () => undefined);
}

/** The text of generate/long.py, and as far beyond it as is wanted. */
function longText(length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => 2 + ((i * i * 7 + i * 31 + Math.floor(i / 97)) % 311));
}

/** Logprob of each token of `ids` after the first. */
async function score(engine: Engine, ids: Int32Array, chunk: number): Promise<number[]> {
  const admission: Admission = {
    ...{ slot: 0, tokens: ids, cachedTokens: 0, snapshot: null, promptLength: ids.length },
    ...{ maxLength: ids.length + 1, stopTokens: new Int32Array(), sampling: greedy, promptLogprobs: true },
    pooling: 'none',
    constraint: null,
    rules: null,
    adapter: 0,
  };
  const blocks = Int32Array.from(
    Array.from(ids, (_, i) => [0, i])
      .slice(0, Math.ceil(ids.length / blockSize))
      .flat(),
  );
  const logprobs: number[] = [];
  for (let computed = 0; computed < ids.length; computed += chunk) {
    const rows = Int32Array.of(0, Math.min(chunk, ids.length - computed));
    const first = computed === 0 ? { admit: [admission], blocks } : {};
    logprobs.push(...(await engine.step({ ...emptyPlan, ...first, rows })).prompt.logprobs);
  }
  await engine.step({ ...emptyPlan, release: Int32Array.of(0) });
  return logprobs;
}

describe.each(['llama-bf16', 'qwen3-bf16', 'qwen3_5-bf16', 'qwen3_next-bf16'])('%s', (model) => {
  const golden = JSON.parse(readFileSync(`${modelsDir}${model}/long.json`, 'utf8')) as {
    readonly length: number;
    readonly logprobs: number[];
  };
  let engine: Engine;
  beforeAll(async () => {
    engine = await load(model);
  });
  afterAll(() => engine.dispose());

  test('8192 tokens in, the reference’s logprobs, whatever the chunks', async () => {
    const ids = longText(golden.length);
    const logprobs = await score(engine, ids, 2048);
    expect(golden.logprobs).toHaveLength(256);
    expect(furthest(logprobs.slice(-256), golden.logprobs)).toBeLessThan(tolerance.float32);
    expect(await score(engine, ids, 576)).toEqual(logprobs);
  });

  test('the workspace is that of a short context', async () => {
    const short = await load(model, { maxModelLen: 1024, numBlocks: 16 });
    try {
      expect(engine.info.workspaceBytes).toBe(short.info.workspaceBytes);
    } finally {
      await short.dispose();
    }
  });
});

const readsFurther = async (): Promise<void> => {
  const engine = await load('qwen3_5-bf16', { dtype: 'bfloat16' });
  try {
    const request = generateRequest('long', longText(131_372), { maxTokens: 8 });
    const limits = { ...room, prefixCaching: false };
    const { answers } = await serve(engine, limits, atOnce([request]));
    expect(answers.get('long')!.logitHashes).toHaveLength(8);
    const again = [
      { step: 0, request: { ...request, id: 'before' } },
      { step: 400, request },
    ];
    const cached = await serve(engine, { ...limits, maxNumBatchedTokens: 1024, prefixCaching: true }, again);
    expect(cached.answers.get('before')).toEqual(answers.get('long'));
    expect(cached.answers.get('long')).toEqual(answers.get('long'));
    expect(cached.stats.prefixCacheHitsTotal).toBeGreaterThan(131_000);
  } finally {
    await engine.dispose();
  }
};

if (wide)
  test('131,372 tokens on a hybrid: the same logits by other chunks and from the cache', readsFurther);
