import { expect, test } from '@jest/globals';
import { TokenRuns } from './token-runs.js';

const add = (runs: TokenRuns, id: string, token: number, times: number): void => {
  for (let i = 0; i < times; i++) runs.add(id, token);
};

test('a run counts once, when it is 256 tokens long, however it continues', () => {
  const runs = new TokenRuns();
  add(runs, 'a', 7, 255);
  expect(runs.total).toBe(0);
  add(runs, 'a', 7, 500);
  expect(runs.total).toBe(1);
});

test('another token, another sequence, or a new one of the same name begins anew', () => {
  const runs = new TokenRuns();
  add(runs, 'a', 7, 200);
  runs.add('a', 8);
  add(runs, 'a', 7, 200);
  add(runs, 'b', 7, 200);
  runs.forget('a');
  add(runs, 'a', 7, 200);
  expect(runs.total).toBe(0);
});
