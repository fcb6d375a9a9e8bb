import { expect, test } from '@jest/globals';
import { through, widthBehind } from './dense-layers.js';

const wide = {
  weights: Float32Array.of(1, 2, 3, 4, 5, 6),
  bias: Float32Array.of(0, 1, -1),
  inFeatures: 2,
  activation: 'identity',
} as const;
const narrow = {
  weights: Float32Array.of(0.5, 0, 0.25),
  ...{ bias: null, inFeatures: 3 },
  activation: 'tanh',
} as const;

test('a vector goes through one layer after the other', () => {
  const vector = Float32Array.of(1, -1);
  expect(through([], vector)).toBe(vector);
  // By hand: (1 - 2, 3 - 4 + 1, 5 - 6 - 1).
  expect([...through([wide], vector)]).toEqual([-1, 0, -2]);
  expect([...through([wide, narrow], vector)]).toEqual([Math.fround(Math.tanh(-1))]);
  expect([widthBehind([], 2), widthBehind([wide, narrow], 2)]).toEqual([2, 1]);
});
