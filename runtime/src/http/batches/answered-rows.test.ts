import { expect, test } from '@jest/globals';
import { AnsweredRows } from './answered-rows.js';
import { noUsage } from './batch.js';

const answered = (row: number, isOk = true) => ({
  row,
  isOk,
  line: `${String(row)} ä\n`,
  usage: { ...noUsage, inputTokens: 1 },
});
let keys = 0;
const newKey = (isOk: boolean): string => `${isOk ? 'output' : 'failure'}-${String(keys++)}`;

test('what is taken stays the same until it is stored, and what comes meanwhile is the next', () => {
  const rows = new AnsweredRows();
  expect(rows.take(newKey)).toBeNull();
  rows.add(answered(3));
  rows.add(answered(1, false));
  rows.add(answered(2));
  const taken = rows.take(newKey)!;
  expect(taken.parts.map(({ part, body }) => [part.key, body.toString()])).toEqual([
    ['output-0', '3 ä\n2 ä\n'],
    ['failure-1', '1 ä\n'],
  ]);
  expect(taken.parts[0]!.part.bytes).toBe(Buffer.byteLength('3 ä\n2 ä\n'));
  expect(taken.progress).toMatchObject({
    rows: [3, 1, 2],
    completed: 2,
    failed: 1,
    usage: { inputTokens: 3 },
    output: { key: 'output-0' },
    failure: { key: 'failure-1' },
  });
  rows.add(answered(4, false));
  expect(rows.take(newKey)).toBe(taken);
  expect(rows.bytes).toBe(4 * '3 ä\n'.length);
  rows.stored();
  expect(rows.take(newKey)).toMatchObject({ progress: { rows: [4], output: null, completed: 0, failed: 1 } });
  rows.stored();
  expect([rows.bytes, rows.take(newKey)]).toEqual([0, null]);
});
