// The memory plan, made from headers alone, against what the engine allocates for the golden models.

import { readdirSync } from 'node:fs';

import { describe, expect, jest, test } from '@jest/globals';
import { planMemory } from '@llmservice/crds';
import { loadEngine } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { readLocalCheckpoint } from '../../runtime/src/checkpoint/read-local-checkpoint.js';
import { hasMtp, modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

const sizes = { blockSize: 16, maxNumSeqs: 3, maxModelLen: 64, maxNumBatchedTokens: 112 };

const none = { method: 'none', tokens: 0 } as const;
const ways = [
  { dtype: 'bfloat16', kvCacheDtype: 'auto', speculative: none },
  { dtype: 'float32', kvCacheDtype: 'auto', speculative: none },
  { dtype: 'bfloat16', kvCacheDtype: 'fp8', speculative: none },
  { dtype: 'bfloat16', kvCacheDtype: 'auto', speculative: { method: 'ngram', tokens: 3 } },
  { dtype: 'bfloat16', kvCacheDtype: 'fp8', speculative: { method: 'mtp', tokens: 2 } },
] as const;

describe.each(readdirSync(modelsDir))('%s', (model) => {
  const possible = ways.filter(({ speculative: { method } }) => method !== 'mtp' || hasMtp(model));
  test.each(possible)('takes the KV, state and workspace that were planned: %j', async (way) => {
    const modelDir = modelsDir + model;
    const plan = planMemory({
      ...{ ...sizes, ...way, accelerator: 'cpu', tensor: 1, weightBytes: 0, prefixCaching: true },
      shape: (await readLocalCheckpoint(modelDir)).shape,
      memoryBytes: 2 ** 33,
      memoryUtilizationPercent: 90,
    });
    const { numBlocks, numStateSnapshots, kvBytesPerBlock, stateBytes, stateBytesPerSeq, workspaceBytes } =
      plan;
    const engine = await loadEngine(
      { ...plainOptions, ...sizes, ...way, modelDir, numBlocks, numStateSnapshots },
      () => undefined,
    );
    try {
      expect(engine.info).toMatchObject({ kvBytesPerBlock, stateBytesPerSeq, workspaceBytes });
      expect((stateBytesPerSeq + engine.info.draftBytesPerSeq) * sizes.maxNumSeqs).toBe(stateBytes);
    } finally {
      await engine.dispose();
    }
  });
});
