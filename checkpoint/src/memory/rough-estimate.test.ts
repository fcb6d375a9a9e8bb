import { expect, test } from '@jest/globals';
import { roughEstimate } from './rough-estimate.js';

const gib = 2 ** 30;

// 29 GB and a fifth are 34.8 GB; 85 % of 24 GiB are 21.9 GB, of 48 GiB 43.8 GB.
test.each([
  ['two devices of 24 GiB', 29e9, 24 * gib, 2],
  ['one of 48 GiB', 29e9, 48 * gib, 1],
  ['a power of two: 4, though 3 would hold it', 50e9, 24 * gib, 4],
  ['more than 64 devices hold', 5e12, 24 * gib, null],
  ['devices of unknown size', 29e9, null, null],
])('%s', (_name, fileBytes, deviceBytes, devices) => {
  expect(roughEstimate(fileBytes, deviceBytes, 85)).toEqual({ bytes: fileBytes * 1.2, devices });
});
