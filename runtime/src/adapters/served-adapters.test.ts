import { expect, test } from '@jest/globals';
import { ServedAdapters } from './served-adapters.js';

function with2(): ServedAdapters {
  const served = new ServedAdapters();
  for (const name of ['a', 'b']) served.serve({ name, uri: `/${name}`, used: served.reserve(name, 2)! });
  return served;
}

test('numbers are bounded, free again once they are released, and keys are of one load alone', () => {
  const served = with2();
  expect(served.get('a')?.used).toEqual({ number: 1, key: 'a 1' });
  expect(served.reserve('c', 2)).toBeNull();
  served.release({ number: 1, key: 'a 1' });
  expect(served.reserve('a', 2)).toEqual({ number: 1, key: 'a 3' });
});

test('one that is removed is not found, and has gone once the last request that uses it has ended', async () => {
  const served = with2();
  const [one, other] = [served.enter('a'), served.enter('a')];
  expect(served.inUse).toEqual(['a']);
  let gone = false;
  const removed = served.remove('a').then((was) => (gone = was));
  expect(served.has('a')).toBe(false);
  expect(served.enter('a')).toBeNull();
  one?.leave();
  await Promise.resolve();
  expect(gone).toBe(false);
  other?.leave();
  await removed;
  expect(gone).toBe(true);
  expect(served.all.map(({ name }) => name)).toEqual(['b']);
  expect(await served.remove('a')).toBe(false);
});
