import { describe, expect, test } from '@jest/globals';
import { roomy } from './warmup-limits.fixture.js';
import {
  decodeRuns,
  describeShape,
  ownBlocks,
  warmupShapes,
  type Warmup,
  type WarmupLimits,
  type WarmupShape,
} from './warmup-shapes.js';

const none: Warmup = { preset: 'none', shapes: [], timeLimitSeconds: 300 };

function wordsOf(warmup: Partial<Warmup>, limits: Partial<WarmupLimits> = {}, onGpu = true): string[] {
  return warmupShapes({ ...none, ...warmup }, onGpu, { ...roomy, ...limits }).map(describeShape);
}

test('auto is for GPUs', () => {
  expect(wordsOf({ preset: 'auto' }, {}, false)).toEqual([]);
  expect(wordsOf({ preset: 'auto' })).not.toEqual([]);
  expect(wordsOf({ preset: 'short' }, {}, false)).not.toEqual([]);
});

test.each(['auto', 'short', 'long', 'all'] as const)('%s begins with the largest step', (preset) => {
  expect(wordsOf({ preset })[0]).toBe('prompt of 2048 behind 128960');
  expect(wordsOf({ preset }, { maxModelLen: 512 })[0]).toBe('4 prompts of 511');
  expect(wordsOf({ preset }, { maxModelLen: 512, maxNumSeqs: 3 })[0]).toBe('3 prompts of 511');
  expect(wordsOf({ preset }, { maxModelLen: 512, numBlocks: 17 })[0]).toBe('2 prompts of 511');
});

test('a GPU runs the largest step whatever is asked for, a CPU does not', () => {
  expect(wordsOf({})).toEqual(['prompt of 2048 behind 128960']);
  expect(wordsOf({}, {}, false)).toEqual([]);
});

test('short knows every number of sequences to sixteen, and by eights beyond', () => {
  const decodes = wordsOf({ preset: 'short' }).filter((words) => words.includes(' x '));
  const sizes = decodes.map((words) => Number(words.split(' ')[0]));
  expect(sizes).toEqual([...Array.from({ length: 16 }, (_, i) => i + 1), 24, 32, 40, 48, 56, 64]);
  expect(decodes[0]).toBe('1 x 1 rows');
  expect(wordsOf({ preset: 'short' }, { maxNumSeqs: 18 })).toContain('18 x 1 rows');
});

test('each context is one that its launches round up to it', () => {
  for (const shape of warmupShapes({ ...none, preset: 'all' }, true, { ...roomy, maxNumSeqs: 2 })) {
    if (shape.kind !== 'decode' || shape.context === 0) continue;
    const ends = [shape.context + 1, shape.context + decodeRuns].map((end) => 2 ** Math.ceil(Math.log2(end)));
    expect(new Set(ends).size).toBe(1);
  }
  const contexts = (preset: 'auto' | 'long' | 'all'): number[] => [
    ...new Set(
      warmupShapes({ ...none, preset }, true, { ...roomy, maxNumSeqs: 2 }).flatMap((shape) =>
        shape.kind === 'decode' ? [shape.context] : [],
      ),
    ),
  ];
  expect(contexts('auto')).toEqual([0, 1984, 4032, 8128]);
  expect(contexts('long')).toEqual([131_008, 65_472, 32_704, 16_320]);
  expect(contexts('all')).toEqual([0, 1984, 4032, 8128, 16_320, 32_704, 65_472, 131_008]);
});

test('with drafts, all of them come first; hybrids take each number of them into their states', () => {
  const speculative = { method: 'ngram', tokens: 2 } as const;
  const limits = { speculative, maxNumSeqs: 1, maxModelLen: 1024 };
  const decodes = (hybrid: boolean): string[] =>
    wordsOf({ preset: 'short' }, { ...limits, hybrid }).filter((words) => words.includes(' x '));
  expect(decodes(false)).toEqual(['1 x 3 rows', '1 x 1 rows']);
  expect(decodes(true)).toEqual([
    '1 x 3 rows',
    '1 x 3 rows after 2 accepted',
    '1 x 3 rows after 1 accepted',
    '1 x 1 rows',
  ]);
});

test('no more decodes than graphs are kept of', () => {
  const count = (limits: Partial<WarmupLimits>): number =>
    wordsOf({ preset: 'all' }, limits).filter((words) => words.includes(' x ')).length;
  expect(count({})).toBe(96);
  expect(count({ speculative: { method: 'mtp', tokens: 3 } })).toBe(19);
});

test('what the blocks cannot hold is left out', () => {
  const few = { numBlocks: 9, maxModelLen: 512, maxNumSeqs: 16 };
  const decodes = wordsOf({ preset: 'short' }, few).filter((words) => words.includes(' x '));
  expect(decodes.at(-1)).toBe('9 x 1 rows');
});

test('an encoder runs whole prompts alone', () => {
  const limits = { bidirectional: true, maxModelLen: 512 };
  expect(wordsOf({ preset: 'all' }, limits, false)).toEqual([
    '4 prompts of 511',
    ...['prompt of 64', 'prompt of 128', 'prompt of 256', 'prompt of 511'],
  ]);
  expect(wordsOf({ preset: 'auto' }, limits, false)).toEqual([]);
});

describe('a shape that is asked for', () => {
  test('is the end of its prompt, and decodes from there to its length', () => {
    expect(wordsOf({ shapes: ['3000:4096'] }, { maxNumSeqs: 3 }, false)).toEqual([
      'prompt of 2048 behind 896',
      '1 x 1 rows behind 4032',
      '2 x 1 rows behind 4032',
      '3 x 1 rows behind 4032',
    ]);
    expect(wordsOf({ shapes: ['100:1500'] }, { maxNumSeqs: 1 }, false)).toEqual([
      'prompt of 100',
      '1 x 1 rows',
      '1 x 1 rows behind 1984',
    ]);
  });

  test('runs on the CPU too, and comes before the preset but for the largest step', () => {
    expect(wordsOf({ shapes: ['10:20'] }, { maxNumSeqs: 1 }, false)).toEqual(['prompt of 10', '1 x 1 rows']);
    expect(wordsOf({ preset: 'short', shapes: ['10:20'] }).slice(0, 3)).toEqual([
      'prompt of 2048 behind 128960',
      'prompt of 10',
      '1 x 1 rows',
    ]);
  });

  test('is cut to what a sequence may have', () => {
    expect(wordsOf({ shapes: ['3000:4096'] }, { maxModelLen: 600, maxNumSeqs: 1 }, false)).toEqual([
      'prompt of 599',
      '1 x 1 rows',
    ]);
  });
});

test('blocks are counted for all runs of a decode and the drafts of one more', () => {
  const decode: WarmupShape = { kind: 'decode', batch: 1, drafts: 3, accepted: 0, context: 0 };
  expect(ownBlocks(decode, { blockSize: 16 })).toBe(1);
  expect(ownBlocks({ ...decode, drafts: 7 }, { blockSize: 16 })).toBe(2);
});
