import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Pace } from './pace.js';

let nowMs = 50;
beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => nowMs));
afterEach(() => void jest.restoreAllMocks());

test('the first look is due at once, and another after the pause', () => {
  const pace = new Pace(2_000);
  expect(pace.leftMs('a')).toBe(0);
  pace.begin('a');
  nowMs += 500;
  expect([pace.leftMs('a'), pace.leftMs('b')]).toEqual([1_500, 0]);
  nowMs += 1_500;
  expect(pace.leftMs('a')).toBe(0);
});

test('what is forgotten is due at once', () => {
  const pace = new Pace(2_000);
  pace.begin('a');
  pace.forget('a');
  expect(pace.leftMs('a')).toBe(0);
});
