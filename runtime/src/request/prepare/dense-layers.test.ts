import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../../crds/src/thrown-by.fixture.js';
import { atOnce } from '../../loop-turns.js';
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
  expect(atOnce(through([], vector))).toBe(vector);
  // By hand: (1 - 2, 3 - 4 + 1, 5 - 6 - 1).
  expect([...atOnce(through([wide], vector))]).toEqual([-1, 0, -2]);
  expect([...atOnce(through([wide, narrow], vector))]).toEqual([Math.fround(Math.tanh(-1))]);
  expect([widthBehind([], 2), widthBehind([wide, narrow], 2)]).toEqual([2, 1]);
});

test('a wide matrix is left between its rows', () => {
  const layer = { weights: new Float32Array(3 * 2 ** 20).fill(1), bias: null, inFeatures: 2 ** 19 };
  const steps = through([{ ...layer, activation: 'identity' }], new Float32Array(2 ** 19).fill(1));
  // Of six rows, two at a time.
  for (let i = 0; i < 3; i += 1) expect(steps.next()).toEqual({ done: false, value: undefined });
  expect(steps.next()).toEqual({ done: true, value: new Float32Array(6).fill(2 ** 19) });
});

test.each([
  ['pooling', [], NaN],
  // 3e38 is finite; twice as much is not.
  ['matrices behind the pooling', [{ ...wide, weights: new Float32Array(6).fill(2) }], 3e38],
])('what is not finite behind the %s is a numerical fault', (part, layers, value) => {
  const failure = thrownBy(FailureError, () => atOnce(through(layers, Float32Array.of(value, 0))));
  expect(failure.reason).toBe('EngineNumericalFault');
  expect(failure.message).toContain(`came out of the ${part}`);
});
