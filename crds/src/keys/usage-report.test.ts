import { expect, test } from '@jest/globals';
import { readUsage, usageText } from './usage-report.js';

test('a report is read as it was written', () => {
  const usage = { promptTokens: 12, completionTokens: 3_456, textTokens: 0 };
  expect(usageText(usage)).toBe('prompt=12, completion=3456, text=0');
  expect(readUsage(usageText(usage))).toEqual(usage);
});

test.each([undefined, '', 'report', 'prompt=-1, completion=0, text=0', 'prompt=1, completion=NaN, text=0'])(
  '%j is none',
  (text) => {
    expect(readUsage(text)).toBeNull();
  },
);
