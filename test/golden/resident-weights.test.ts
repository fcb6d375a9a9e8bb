// The memory plan counts a checkpoint's weights before they are read: to the byte what the engine then holds, on one rank
// or several, and it knows which numbers of ranks the engine refuses.

import { readdirSync } from 'node:fs';

import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { rankWeightBytes, residentWeights, validTensorParallel } from '@llmservice/checkpoint';

import { openCheckpoint, type LocalCheckpoint } from '@llmservice/checkpoint/local';
import { loadGolden } from './engine-driver.js';
import { hasMtp, modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

const models = readdirSync(modelsDir);
const holdings = (['float32', 'bfloat16'] as const).flatMap((dtype) =>
  (['none', 'fp8', 'int8'] as const).flatMap((quantization) => [
    { dtype, quantization, speculative: { method: 'none', tokens: 0 } } as const,
    { dtype, quantization, speculative: { method: 'mtp', tokens: 1 } } as const,
  ]),
);

describe.each(models)('%s', (model) => {
  let checkpoint: LocalCheckpoint;
  beforeAll(async () => {
    checkpoint = await openCheckpoint(modelsDir + model);
  });

  const possible = holdings.filter(({ speculative: { method } }) => method === 'none' || hasMtp(model));
  test.each(possible)(
    'held in $dtype, quantized at load: $quantization, drafts: $speculative.method',
    async (options) => {
      const { shape, tensors } = checkpoint;
      // Refused of a checkpoint that is quantized already.
      if (shape.quantization !== 'none' && options.quantization !== 'none') return;
      const how = { ...options, isa: 'portable', threads: 1 } as const;
      const weights = residentWeights(tensors, shape, options);
      const works = validTensorParallel(shape, weights);
      for (const size of [1, 2, 3, 4, 8]) {
        const load = () => loadGolden(modelsDir + model, how, size);
        if (!works.includes(size)) {
          await expect(load()).rejects.toMatchObject({ reason: 'ParallelismInvalid' });
          continue;
        }
        const engine = await load();
        try {
          const { kvHeads } = shape;
          expect(rankWeightBytes(weights, { rank: 0, size, kvHeads })).toBe(engine.info.weightBytes);
        } finally {
          await engine.dispose();
        }
      }
    },
  );
});
