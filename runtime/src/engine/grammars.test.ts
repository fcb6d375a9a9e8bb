import { expect, test } from '@jest/globals';
import { bounded } from './grammars.js';

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
  const all = ['a', 'b', 'c'].map((text) => limited(text));
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
  await expect(limited('x')).rejects.toMatchObject({ failure: { reason: 'GrammarInvalid' } });
});
