// Whatever bytes a GGUF file has, it is planned or refused with a reason. FUZZ_SECONDS: how long to look for another.

import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { parseGgufHeader } from './gguf-header.js';
import { ggufFile, llamaGguf, mutated, randomNumbers } from './gguf.fixture.js';
import { planMemory } from '../memory/memory-plan.js';
import { rankWeightBytes } from '../weights/rank-weights.js';
import { residentWeights } from '../weights/resident-weights.js';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 1);
const whole = ggufFile(llamaGguf());
const options = { dtype: 'auto', quantization: 'none', speculative: { method: 'none', tokens: 3 } } as const;

/** True for a file that was planned. */
function isPlanned(bytes: Uint8Array): boolean {
  try {
    const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: true });
    if (header === null) throw new Error('the header cannot continue behind the file');
    for (const { offset, bytes: length } of header.tensors) {
      expect(offset + (length ?? 0)).toBeLessThanOrEqual(bytes.length);
    }
    const { shape, tensors } = readGgufCheckpoint(header);
    const weights = residentWeights(tensors, shape, options);
    const held = rankWeightBytes(weights, { rank: 0, size: 1, kvHeads: shape.kvHeads });
    expect(Number.isSafeInteger(held)).toBe(true);
    const machine = {
      accelerator: 'cpu',
      memoryBytes: 2 ** 34,
      memoryUtilizationPercent: 90,
      tensor: 1,
    } as const;
    const sizes = { maxModelLen: null, maxNumSeqs: 4, maxNumBatchedTokens: 128, blockSize: 16 };
    const kinds = {
      prefixCaching: true,
      dtype: 'auto',
      kvCacheDtype: 'auto',
      speculative: { method: 'none', tokens: 3 },
    } as const;
    planMemory({ shape, weights, ...machine, ...sizes, ...kinds });
    return true;
  } catch (error) {
    if (error instanceof FailureError) return false;
    throw error;
  }
}

test(
  'changed bytes are planned or refused',
  () => {
    expect(isPlanned(whole)).toBe(true);
    const random = randomNumbers(20260101);
    const counts = { planned: 0, refused: 0 };
    // So many at least, also where the machine stalls meanwhile.
    const end = Date.now() + seconds * 1000;
    for (let tries = 0; tries < 1_000 || Date.now() < end; tries++) {
      if (isPlanned(mutated(whole, random))) counts.planned++;
      else counts.refused++;
    }
    expect(counts.planned).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  },
  seconds * 1000 + 60_000,
);
