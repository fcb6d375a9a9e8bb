// The thin diagonal of the matrix that `make golden` runs whole.

import { readFileSync } from 'node:fs';

import { describe, expect, jest, test } from '@jest/globals';
import { supportedModelTypes } from '@llmservice/checkpoint';

import { encoderTypes } from './encoder-models.js';
import { modelsDir } from './golden-values.js';
import { checkCombination, loadChoice } from './matrix/check-combination.js';
import {
  architectureOf,
  caches,
  chunks,
  diagonal,
  dtypes,
  models,
  speculations,
  tensors,
} from './matrix/combinations.js';
import { readme, withCounts } from './matrix/counts.js';

jest.setTimeout(120_000);

const chosen = diagonal();

describe('the diagonal', () => {
  test.each([
    ['model', models],
    ['dtype', dtypes],
    ['tensor', tensors],
    ['cache', caches],
    ['speculation', speculations],
    ['chunk', chunks],
  ] as const)('meets every %s', (axis, values) => {
    expect(new Set(chosen.map((combination) => combination[axis]))).toEqual(new Set<unknown>(values));
  });

  test('is counted in the README as it is', () => {
    const text = readFileSync(readme, 'utf8');
    expect(text).toBe(withCounts(text));
  });

  test('has every architecture that generates', () => {
    const generating = supportedModelTypes.filter((modelType) => !encoderTypes.includes(modelType));
    for (const modelType of generating) expect(models.map(architectureOf)).toContain(modelType);
  });
});

test.each(chosen)(
  '$model in $dtype on $tensor ranks, cache $cache, speculation $speculation, $chunk rows',
  async (combination) => {
    const engine = await loadChoice(combination, modelsDir);
    try {
      expect(await checkCombination(engine, combination)).toEqual([]);
    } finally {
      await engine.dispose();
    }
  },
);
