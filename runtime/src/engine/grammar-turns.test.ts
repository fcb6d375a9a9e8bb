import { beforeEach, expect, test } from '@jest/globals';
import { GrammarTurns } from './grammar-turns.js';

let turns: GrammarTurns<string>;
beforeEach(() => {
  turns = new GrammarTurns({ atOnce: 3, slowAtOnce: 2 });
});

const add = (key: string, ...jobs: readonly string[]): void => jobs.forEach((job) => turns.add(job, key));
/** Ends those that may not continue. */
const outgrow = (...jobs: readonly string[]): boolean[] =>
  jobs.map((job) => {
    const goesOn = turns.outgrew(job);
    if (!goesOn) turns.again(job, true);
    return goesOn;
  });
const begun = (): string[] => {
  const jobs: string[] = [];
  for (let job = turns.next(); job !== null; job = turns.next()) jobs.push(job);
  return jobs;
};

test('keys take turns, however many a key has', () => {
  add('a', 'a1', 'a2', 'a3', 'a4');
  add('b', 'b1', 'b2');
  expect(begun()).toEqual(['a1', 'b1', 'a2']);
  turns.remove('b1');
  expect(begun()).toEqual(['b2']);
  turns.remove('a1');
  turns.remove('b2');
  expect(begun()).toEqual(['a3', 'a4']);
});

test('a key alone has all places, but one place for what is slow', () => {
  add('a', 'a1', 'a2', 'a3', 'a4');
  expect(begun()).toEqual(['a1', 'a2', 'a3']);
  expect(outgrow('a1', 'a2', 'a3')).toEqual([true, false, false]);
  expect(begun()).toEqual(['a4']);
  turns.remove('a4');
  expect(begun()).toEqual([]);
  turns.remove('a1');
  expect(begun()).toEqual(['a2']);
});

test('what is slow leaves a place, whoever asks for it', () => {
  add('a', 'a1');
  add('b', 'b1');
  add('c', 'c1');
  expect(begun()).toEqual(['a1', 'b1', 'c1']);
  expect(outgrow('a1', 'b1', 'c1')).toEqual([true, true, false]);
  add('d', 'yes or no');
  expect(begun()).toEqual(['yes or no']);
  turns.remove('a1');
  expect(begun()).toEqual(['c1']);
});

test('one that outgrew its time twice runs on', () => {
  add('a', 'a1');
  begun();
  expect(outgrow('a1', 'a1')).toEqual([true, true]);
});

test('one that is not wanted any more has no turn', () => {
  add('a', 'a1', 'a2');
  turns.remove('a1');
  expect(begun()).toEqual(['a2']);
});
