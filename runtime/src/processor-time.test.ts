import { expect, test } from '@jest/globals';
import { processorMs } from './processor-time.js';

test('adds user and system time, whatever the process is called', () => {
  const fields = ['S', ...Array.from({ length: 10 }, () => '0'), '150', '50', '7', '7'].join(' ');
  expect(processorMs(1, () => `1 (a) name) ${fields}`)).toBe(2000);
});

test('is null for a process that is not there', () => {
  expect(processorMs(2 ** 30)).toBeNull();
  expect(processorMs(1, () => 'something else')).toBeNull();
});

test('counts what this process does', () => {
  const before = processorMs(process.pid) ?? 0;
  const { user, system } = process.cpuUsage();
  while (process.cpuUsage().user + process.cpuUsage().system < user + system + 50_000);
  expect(processorMs(process.pid)).toBeGreaterThan(before);
});
