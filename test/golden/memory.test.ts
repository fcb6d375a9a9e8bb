// The memory plan, made from headers alone, against what the engine allocates for the golden models.

import { readdirSync } from 'node:fs';

import { describe, expect, jest, test } from '@jest/globals';
import { planMemory } from '@llmservice/crds';
import { loadEngine } from '@llmservice/native';

import { readLocalCheckpoint } from '../../runtime/src/checkpoint/read-local-checkpoint.js';
import { modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

const sizes = { blockSize: 16, maxNumSeqs: 3, maxModelLen: 64, maxNumBatchedTokens: 112 };

describe.each(readdirSync(modelsDir))('%s', (model) => {
  test.each([
    { dtype: 'bfloat16', kvCacheDtype: 'auto' },
    { dtype: 'float32', kvCacheDtype: 'auto' },
    { dtype: 'bfloat16', kvCacheDtype: 'fp8' },
  ] as const)('in $dtype with KV in $kvCacheDtype takes what was planned', async (types) => {
    const modelDir = modelsDir + model;
    const plan = planMemory({
      ...{ ...sizes, ...types, accelerator: 'cpu', tensor: 1, weightBytes: 0, prefixCaching: true },
      shape: (await readLocalCheckpoint(modelDir)).shape,
      memoryBytes: 2 ** 33,
      memoryUtilizationPercent: 90,
    });
    const { numBlocks, numStateSnapshots, kvBytesPerBlock, stateBytesPerSeq, workspaceBytes } = plan;
    const how = { quantization: 'none', place: null, isa: 'auto', threads: 1, logitHashes: false } as const;
    const engine = await loadEngine(
      { ...sizes, ...how, ...types, modelDir, numBlocks, numStateSnapshots },
      () => undefined,
    );
    try {
      expect(engine.info).toMatchObject({ kvBytesPerBlock, stateBytesPerSeq, workspaceBytes });
    } finally {
      await engine.dispose();
    }
  });
});
