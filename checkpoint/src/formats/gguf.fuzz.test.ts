// Whatever bytes a GGUF file or its parts have, they are planned or refused with a reason. FUZZ_SECONDS: how long to look for another.

import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { ggufFile, llamaGguf, mutated, randomNumbers } from './gguf.fixture.js';
import { readGgufHeaders } from './read-gguf-headers.js';
import { splitGguf } from './split-gguf.fixture.js';
import { planMemory } from '../memory/memory-plan.js';
import { rankWeightBytes } from '../weights/rank-weights.js';
import { residentWeights } from '../weights/resident-weights.js';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 1);
const whole = ggufFile(llamaGguf());
const options = { dtype: 'auto', quantization: 'none', speculative: { method: 'none', tokens: 3 } } as const;

type Files = Readonly<Record<string, Uint8Array>>;

/** True for a checkpoint that was planned. */
async function isPlanned(files: Files): Promise<boolean> {
  try {
    const listed = Object.entries(files).map(([name, { length: bytes }]) => ({ name, bytes }));
    const read = (name: string, begin: number, end: number): Promise<Uint8Array> =>
      Promise.resolve(files[name]!.subarray(begin, end));
    const { header } = await readGgufHeaders(listed, read, { arrays: true });
    for (const { file, offset, bytes } of header.tensors) {
      expect(offset + (bytes ?? 0)).toBeLessThanOrEqual(files[file]!.length);
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

test.each<[string, Files]>([
  ['a file', { 'model.gguf': whole }],
  ['parts', splitGguf(whole, 'model', 3)],
])(
  'changed bytes of %s are planned or refused',
  async (_, files) => {
    expect(await isPlanned(files)).toBe(true);
    const names = Object.keys(files);
    const random = randomNumbers(20260101);
    const counts = { planned: 0, refused: 0 };
    // So many at least, also where the machine stalls meanwhile.
    const end = Date.now() + seconds * 1000;
    for (let tries = 0; tries < 1_000 || Date.now() < end; tries++) {
      const name = names[random() % names.length]!;
      if (await isPlanned({ ...files, [name]: mutated(files[name]!, random) })) counts.planned++;
      else counts.refused++;
    }
    expect(counts.planned).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  },
  seconds * 1000 + 60_000,
);
