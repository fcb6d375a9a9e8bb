import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matchesVersion } from './verify-file.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'verify-'));
});
afterEach(() => rm(dir, { recursive: true }));

const md5 = { algorithm: 'md5', hex: createHash('md5').update('weights').digest('hex') } as const;

test.each([
  ['weights', md5, true],
  ['weighty', md5, false],
  ['weights', null, true],
  ['weights and what was written behind them', null, false],
  ['weigh', null, false],
])('%s with the digest %j is the file: %j', async (content, digest, expected) => {
  const path = join(dir, 'w');
  await writeFile(path, content);
  const file = { name: 'w', bytes: 'weights'.length, etag: '"a-4"', digest };
  expect(await matchesVersion(path, file, () => undefined)).toBe(expected);
});
