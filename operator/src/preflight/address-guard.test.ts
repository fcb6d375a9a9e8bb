import { expect, test } from '@jest/globals';
import { checkEndpointHost, guardedLookup, isRefusedAddress } from './address-guard.js';

test.each([
  ['169.254.169.254', true],
  ['fe80::1', true],
  ['::ffff:169.254.0.1', true],
  ['64:ff9b::a9fe:a9fe', true],
  ['fd00:ec2::254', true],
  ['100.100.100.200', true],
  ['10.0.0.1', false],
  ['fd00::1', false],
  ['s3.example.org', false],
])('%s is refused: %s', (address, expected) => {
  expect(isRefusedAddress(address)).toBe(expected);
});

test.each([
  'http://169.254.169.254:80/',
  'http://[fe80::1]/',
  'http://[::ffff:a9fe:a9fe]',
  'http://2852039166/',
])('%s is refused however it is written', (endpoint) => {
  expect(() => checkEndpointHost(endpoint)).toThrow('link-local');
});

test.each(['', 'minio.storage', 's3.example.org:9000'])('%s is no endpoint', (endpoint) => {
  expect(() => checkEndpointHost(endpoint)).toThrow('not an http or https URL');
});

test('a look-up passes other addresses on', async () => {
  const found = await new Promise((resolve, reject) =>
    guardedLookup('127.0.0.1', { all: false }, (error, address) =>
      error === null ? resolve(address) : reject(error),
    ),
  );
  expect(found).toBe('127.0.0.1');
});

test('a look-up that finds a refused address fails', async () => {
  await expect(
    new Promise((resolve, reject) =>
      guardedLookup('169.254.1.1', { all: true }, (error, found) =>
        error === null ? resolve(found) : reject(error),
      ),
    ),
  ).rejects.toThrow('link-local');
});
