import { expect, test } from '@jest/globals';
import { PodTurns } from './pod-turns.js';

const urls = ['a', 'b', 'c'];
const take = (turns: PodTurns, count: number, key = 'ns/demo', of = urls): string =>
  Array.from({ length: count }, () => turns.next(key, of)).join('');

test('pods get requests one after the other, for each service', () => {
  const turns = new PodTurns();
  expect(take(turns, 2)).toBe('ab');
  expect(take(turns, 3, 'ns/other')).toBe('abc');
  expect(take(turns, 3)).toBe('cab');
});

test('it begins anew where the pod of the last request is gone', () => {
  const turns = new PodTurns();
  expect(take(turns, 2) + take(turns, 2, 'ns/demo', ['c', 'd'])).toBe('abcd');
});

test('pods that could not be reached are passed over, until one is or there is no other', () => {
  const turns = new PodTurns();
  turns.unreached('b');
  expect([take(turns, 4), turns.areAway(urls)]).toEqual(['acac', false]);
  for (const url of ['a', 'c']) turns.unreached(url);
  expect([take(turns, 4), turns.areAway(urls)]).toEqual(['abca', true]);
  turns.reached('b');
  expect([take(turns, 2), turns.areAway(urls)]).toEqual(['bb', false]);
});
