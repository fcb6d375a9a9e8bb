import { expect, test } from '@jest/globals';
import { setImmediate as immediate } from 'node:timers/promises';
import { LoopTurns, type Steps } from './loop-turns.js';

function standStill(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** What ran on the loop, in its order, until `works` have ended. */
async function orderOf(works: readonly Promise<unknown>[], seen: (number | string)[]): Promise<void> {
  const over = new AbortController();
  void Promise.allSettled(works).then(() => over.abort());
  while (!over.signal.aborted) {
    await immediate();
    if (seen.at(-1) !== 'other') seen.push('other');
  }
}

test('works come in their order, one fails alone, and others have their turn between them', async () => {
  const turns = new LoopTurns();
  const seen: (number | string)[] = [];
  function* work(i: number): Steps<number> {
    seen.push(i);
    standStill(20);
    yield;
    if (i === 1) throw new Error('no JSON');
    return i;
  }
  const works = Array.from({ length: 4 }, (_, i) => turns.run(() => work(i)));
  const settled = Promise.allSettled(works);
  await orderOf(works, seen);
  expect((await settled).map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual([
    0,
    'failed',
    2,
    3,
  ]);
  expect(seen.filter((each) => each !== 'other')).toEqual([0, 1, 2, 3]);
  for (let i = 0; i < 3; i++) expect(seen.slice(seen.indexOf(i) + 1, seen.indexOf(i + 1))).toContain('other');
});

test('others have their turn between the slices of one work, and short steps make one slice', async () => {
  const turns = new LoopTurns();
  const seen: (number | string)[] = [];
  function* work(steps: number, milliseconds: number): Steps<void> {
    for (let i = 0; i < steps; i++) {
      seen.push(i);
      standStill(milliseconds);
      yield;
    }
  }
  await orderOf([turns.run(() => work(4, 15))], seen);
  expect(seen.filter((each) => each !== 'other')).toEqual([0, 1, 2, 3]);
  for (let i = 0; i < 3; i++) expect(seen.slice(seen.indexOf(i) + 1, seen.indexOf(i + 1))).toContain('other');
  seen.length = 0;
  await turns.run(() => work(3, 0));
  expect(seen).toEqual([0, 1, 2]);
});

test('a work whose client left ends between two slices, and the next one begins', async () => {
  const turns = new LoopTurns();
  const left = new AbortController();
  let steps = 0;
  function* endless(): Steps<never> {
    for (;;) {
      if (++steps === 3) left.abort(new Error('the client went away'));
      yield;
    }
  }
  function* short(): Steps<string> {
    yield;
    return 'done';
  }
  const first = turns.run(endless, left.signal);
  const second = turns.run(short);
  await expect(first).rejects.toThrow('the client went away');
  expect(steps).toBe(3);
  await expect(second).resolves.toBe('done');
});
