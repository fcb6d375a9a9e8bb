// The thin diagonal of the matrix that `make golden` runs whole.

import { describe, expect, jest, test } from '@jest/globals';

import { modelsDir, readGolden } from './golden-values.js';
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

  test('has every architecture of the reference', () => {
    const architectures = [
      'llama',
      'qwen3',
      'qwen3_5',
      'qwen3_5_moe',
      'qwen3_5_text',
      'qwen3_moe',
      'qwen3_next',
    ];
    for (const architecture of architectures) expect(models.map(architectureOf)).toContain(architecture);
  });
});

test.each(chosen)(
  '$model in $dtype on $tensor ranks, cache $cache, speculation $speculation, $chunk rows',
  async (combination) => {
    const engine = await loadChoice(combination, modelsDir);
    try {
      expect(await checkCombination(engine, readGolden(combination.model), combination)).toEqual([]);
    } finally {
      await engine.dispose();
    }
  },
);
