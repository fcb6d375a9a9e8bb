import { expect, test } from '@jest/globals';
import { disturbances, processorTimeOf } from './quiet.js';

test('an idle machine with an even bandwidth is quiet', () => {
  expect(disturbances(0.1, 0, [30e9, 31e9, 29e9])).toEqual([]);
});

test('load, stolen time and an uneven bandwidth are each reported', () => {
  expect(disturbances(2, 0.1, [30e9, 15e9])).toEqual([
    'The load was 2.00 before anything ran; at most 0.5 counts as quiet.',
    "The host gave 10.0 % of the processors' time to others.",
    'What was read from memory a second differed by 50.0 % between rounds.',
  ]);
});

test('stolen time is the eighth number of /proc/stat, guests are counted within user', () => {
  expect(processorTimeOf('cpu  10 0 5 80 1 0 1 3 7 0\ncpu0 1\n')).toEqual({ all: 100, stolen: 3 });
});
