import { expect, test } from '@jest/globals';
import { DeviceSeconds } from './device-seconds.js';

const start = Date.parse('2026-11-10T12:00:00Z');
const minute = 60_000;
const pod = (devices: number, since: string) => ({ devices, since });

test('counts what pods hold between two scrapes, and what the process before counted not again', () => {
  const seconds = new DeviceSeconds(start);
  const before = pod(8, '2026-11-10T09:00:00Z');
  expect(seconds.count('a/b', [before], start + minute)).toBe(8 * 60);
  const later = pod(2, '2026-11-10T12:01:30Z');
  expect(seconds.count('a/b', [before, later], start + 2 * minute)).toBe(8 * 120 + 2 * 30);
  expect(seconds.count('a/b', [], start + 3 * minute)).toBe(8 * 120 + 2 * 30);
});

test('counts nothing twice where two Prometheus scrape, nor back where the clock is set back', () => {
  const seconds = new DeviceSeconds(start);
  const held = [pod(1, '2026-11-10T09:00:00Z')];
  expect(seconds.count('a/b', held, start + minute)).toBe(60);
  expect(seconds.count('a/b', held, start + minute)).toBe(60);
  expect(seconds.count('a/b', held, start)).toBe(60);
  expect(seconds.count('a/b', held, start + 2 * minute)).toBe(120);
});

test('a service of the same name begins anew', () => {
  const seconds = new DeviceSeconds(start);
  seconds.count('a/b', [pod(1, '2026-11-10T12:00:00Z')], start + minute);
  seconds.keep(new Set());
  expect(seconds.count('a/b', [pod(1, '2026-11-10T12:01:00Z')], start + 2 * minute)).toBe(60);
});
