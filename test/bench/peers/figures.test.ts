import { expect, test } from '@jest/globals';
import { measures, ratiosTo, tableOf, type Contender, type Figures } from './figures.js';

const all = (value: number): Figures =>
  Object.fromEntries(measures.map((measure) => [measure, value])) as Figures;
const contender = (name: string): Contender => ({ name, format: 'BF16', measure: () => all(1) });

test('a ratio is taken within a round, to the fastest of the peers in it', () => {
  const ours = [all(10), all(2), all(30)];
  const theirs = [
    [all(5), all(1), all(20)],
    [all(4), all(4), all(10)],
  ];
  expect(ratiosTo(ours, theirs)['decode 1']).toBe(1.5);
});

test('a table has a row for each contender, with medians', () => {
  const [head, , row] = tableOf(new Map([[contender('ours'), [all(3), all(1), all(2)]]]));
  expect(head).toContain('prefill 512 | prefill 2048 | decode 1');
  expect(row).toBe('| ours BF16 | 2.0 | 2.0 | 2.0 | 2.0 | 2.0 | 2.0 |');
});
