import { expect, test } from '@jest/globals';
import { setImmediate as immediate } from 'node:timers/promises';
import { ParseTurns } from './parse-turns.js';

function standStill(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('works come in their order, one fails alone, and others have their turn between them', async () => {
  const turns = new ParseTurns();
  const seen: (number | string)[] = [];
  const works = Array.from({ length: 4 }, (_, i) =>
    turns.run(() => {
      seen.push(i);
      standStill(20);
      if (i === 1) throw new Error('no JSON');
    }),
  );
  const settled = Promise.allSettled(works);
  const over = new AbortController();
  void settled.then(() => over.abort());
  while (!over.signal.aborted) {
    await immediate();
    if (seen.at(-1) !== 'other') seen.push('other');
  }
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(seen.filter((each) => each !== 'other')).toEqual([0, 1, 2, 3]);
  for (let i = 0; i < 3; i++) expect(seen.slice(seen.indexOf(i) + 1, seen.indexOf(i + 1))).toContain('other');
});
