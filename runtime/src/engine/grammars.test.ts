import { expect, test } from '@jest/globals';
import { bounded } from './grammars.js';

const wanted = new AbortController().signal;

/** Compiles that end when they are told to. */
function compiles() {
  const begun: (() => void)[] = [];
  const compile = (text: string): Promise<string> =>
    new Promise((resolve) => begun.push(() => resolve(text)));
  return { begun, compile };
}

test('few run at once; the others wait their turn', async () => {
  const { begun, compile } = compiles();
  const limited = bounded(compile, { atOnce: 2, milliseconds: 10_000 });
  const all = ['a', 'b', 'c'].map((text) => limited(text, wanted));
  await Promise.resolve();
  expect(begun).toHaveLength(2);
  begun[0]!();
  expect(await all[0]).toBe('a');
  begun[1]!();
  await all[1];
  begun[2]!();
  expect(await all[2]).toBe('c');
});

test('one that does not come to an end is refused', async () => {
  const { compile } = compiles();
  const limited = bounded(compile, { atOnce: 2, milliseconds: 50 });
  await expect(limited('x', wanted)).rejects.toMatchObject({ failure: { reason: 'GrammarInvalid' } });
});

test('one that waits for others is told so, and is not begun when it is too late', async () => {
  const { begun, compile } = compiles();
  const limited = bounded(compile, { atOnce: 1, milliseconds: 50 });
  const slow = expect(limited('slow', wanted)).rejects.toMatchObject({
    failure: { reason: 'GrammarInvalid' },
  });
  await expect(limited('waits', wanted)).rejects.toMatchObject({ failure: { reason: 'QueueTimeout' } });
  await slow;
  begun[0]!();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(begun).toHaveLength(1);
});

test('one that nobody waits for any more is not begun', async () => {
  const { begun, compile } = compiles();
  const limited = bounded(compile, { atOnce: 1, milliseconds: 10_000 });
  const first = limited('first', wanted);
  const leaving = new AbortController();
  const second = limited('second', leaving.signal);
  const third = limited('third', wanted);
  leaving.abort();
  await Promise.resolve();
  begun[0]!();
  await first;
  await expect(second).rejects.toMatchObject({ name: 'AbortError' });
  begun[1]!();
  expect(await third).toBe('third');
});

test('the time of one that waited begins with its turn', async () => {
  const { begun, compile } = compiles();
  const limited = bounded(compile, { atOnce: 1, milliseconds: 400 });
  const first = limited('first', wanted);
  const second = limited('second', wanted);
  await new Promise((resolve) => setTimeout(resolve, 250));
  begun[0]!();
  await first;
  await new Promise((resolve) => setTimeout(resolve, 250));
  begun[1]!();
  expect(await second).toBe('second');
});
