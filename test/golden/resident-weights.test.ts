// The memory plan counts a checkpoint's weights before they are read: to the byte what the engine then holds.

import { readdirSync } from 'node:fs';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { residentWeightBytes } from '@llmservice/crds';

import {
  readLocalCheckpoint,
  type LocalCheckpoint,
} from '../../runtime/src/checkpoint/read-local-checkpoint.js';
import { loadGolden } from './engine-driver.js';
import { hasMtp, modelsDir } from './reference-bar.js';

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
    checkpoint = await readLocalCheckpoint(modelsDir + model);
  });

  const possible = holdings.filter(({ speculative: { method } }) => method === 'none' || hasMtp(model));
  test.each(possible)(
    'held in $dtype, quantized at load: $quantization, drafts: $speculative.method',
    async (options) => {
      const { shape, tensors } = checkpoint;
      // Refused of a checkpoint that is quantized already.
      if (shape.quantization !== 'none' && options.quantization !== 'none') return;
      const engine = await loadGolden(modelsDir + model, { ...options, isa: 'portable', threads: 1 });
      try {
        expect(residentWeightBytes(tensors, shape, options)).toBe(engine.info.weightBytes);
      } finally {
        await engine.dispose();
      }
    },
  );
});
