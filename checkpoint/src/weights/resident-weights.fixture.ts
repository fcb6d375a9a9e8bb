// Weights for tests that care how many bytes there are, not of what.

import type { Held, ResidentWeights } from './resident-weights.js';

/** Weights that ranks divide without a rest. */
export function evenWeights(bytes: number): ResidentWeights {
  return { matrices: [], vectors: [{ rows: bytes / 4, width: 1, split: 'rows', copies: 1 }] };
}

/** One matrix that ranks divide by columns. */
export function splitByColumns(rows: number, cols: number, held: Held): ResidentWeights {
  return {
    matrices: [{ use: 'every', cols, parts: [{ rows, held, split: 'columns' }], copies: 1 }],
    vectors: [],
  };
}
