import { expect, test } from '@jest/globals';
import { choiceSeed, readChoices, violationsOfChoices } from './choices.js';

test('the first choice draws with the request’s own seed, the others with seeds of their own', () => {
  expect(choiceSeed(7n, 0)).toBe(7n);
  const seeds = [0n, 1n, 7n, 2n ** 64n - 1n].flatMap((seed) =>
    Array.from({ length: 128 }, (_, choice) => choiceSeed(seed, choice)),
  );
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(seeds.every((seed) => seed >= 0n && seed < 2n ** 64n)).toBe(true);
  expect(choiceSeed(7n, 3)).toBe(choiceSeed(7n, 3));
});

test.each([
  [{}, { given: 1, generated: 1 }],
  [{ n: 3 }, { given: 3, generated: 3 }],
  [
    { n: 2, best_of: 5 },
    { given: 2, generated: 5 },
  ],
  [{ best_of: 4 }, { given: 1, generated: 4 }],
])('%j asks for %j', (fields, choices) => {
  expect(readChoices(fields)).toEqual(choices);
});

test.each([
  [{ n: 3, best_of: 2 }, ['best_of must be at least n, which is 3']],
  [{ n: 2, best_of: 3, stream: true }, [expect.stringContaining('best_of must be n where stream')]],
  [{ n: 3, best_of: 3, stream: true }, []],
  [{ n: 128, prompt: ['a', 'b'] }, []],
  [{ n: 128, prompt: [1, 2, 3] }, []],
  [{ n: 128, prompt: ['a', 'b', 'c'] }, [expect.stringContaining('128 answers to each of 3 prompts')]],
])('of %j these rules are broken: %j', (fields, messages) => {
  expect(violationsOfChoices(fields).map(({ message }) => message)).toEqual(messages);
});
