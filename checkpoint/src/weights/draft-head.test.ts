import { expect, test } from '@jest/globals';

import { qwen36Config } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { withDraftHead } from './draft-head.js';
import { qwen36Tensors } from './qwen36-tensors.fixture.js';
import { weightBytesByRank } from './rank-weights.js';
import { residentWeights } from './resident-weights.js';

const options = { dtype: 'auto', quantization: 'none', speculative: { method: 'mtp', tokens: 4 } } as const;
const shape = parseCheckpointConfig(qwen36Config);
const weights = residentWeights(qwen36Tensors, shape, options);
const bytes = (of: typeof weights, ranks: number): number[] =>
  weightBytesByRank(of, ranks, shape.kvHeads, true);

// 248,320 rows of 5,120 codes, and a scale of four bytes for each 64 rows and 128 columns.
test.each([
  [1, 248_320 * 5_120 + 3_880 * 40 * 4],
  [2, 124_160 * 5_120 + 1_940 * 40 * 4],
])('on %i ranks the head of 16 bits is held once more, in FP8', (ranks, more) => {
  const plain = bytes(weights, ranks);
  expect(bytes(withDraftHead(weights), ranks)).toEqual(plain.map((each) => each + more));
});

test('the embedding is the head where both are one', () => {
  const tied = residentWeights(qwen36Tensors, { ...shape, tiedEmbeddings: true }, options);
  const [plain = 0] = bytes(tied, 1);
  expect(bytes(withDraftHead(tied), 1)).toEqual([plain + 248_320 * 5_120 + 3_880 * 40 * 4]);
});

test('a head of eight bits is held once', () => {
  const coded = {
    ...weights,
    matrices: weights.matrices.map((matrix) => ({
      ...matrix,
      parts: matrix.parts.map((part) => ({ ...part, held: 'int8' as const })),
    })),
  };
  expect(bytes(withDraftHead(coded), 2)).toEqual(bytes(coded, 2));
});
