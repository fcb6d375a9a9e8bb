import { expect, test } from '@jest/globals';
import { atOnce } from '../../loop-turns.js';
import { LongJson, LongList } from './long-json.js';

const written = (value: object): string => Buffer.concat(atOnce(new LongJson(value).parts())).toString();

test('is what JSON.stringify writes', () => {
  const list = new LongList(3, (i) => ({ token: `"ä${String(i)}`, none: null }));
  const value = {
    id: 'a',
    none: undefined,
    choices: [{ logprobs: { content: list } }, { logprobs: { content: new LongList(0, () => 1) } }, null],
    ids: [1, 2],
    empty: [],
    last: { list },
    date: new Date(0),
  };
  expect(written(value)).toBe(JSON.stringify(value));
  expect(written({ a: 1 })).toBe('{"a":1}');
});

test('makes an entry at a time, and comes in parts', () => {
  let made = 0;
  const long = new LongJson({ list: new LongList(10_000, (i) => (made++, 'x'.repeat(i % 100))) });
  expect(long.entries).toBe(10_000);
  const writing = long.parts();
  let step = writing.next();
  for (let steps = 1; step.done !== true; steps++) {
    expect(made).toBe(steps);
    step = writing.next();
  }
  expect(step.value.length).toBeGreaterThan(5);
  const { list } = JSON.parse(Buffer.concat(step.value).toString()) as { list: string[] };
  expect(list).toHaveLength(10_000);
});
