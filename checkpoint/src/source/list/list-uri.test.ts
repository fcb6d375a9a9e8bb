import { expect, test } from '@jest/globals';
import { parseListUri } from './list-uri.js';

const digest = 'ab'.repeat(32);

test.each([
  ['https://h.example/m/files.json', ['https://h.example/m/files.json', null, '', null]],
  ['https://h.example:8443/files.json/', ['https://h.example:8443/files.json', null, '', null]],
  [`https://h/a@1/f.json@sha256:${digest}`, ['https://h/a@1/f.json', digest, '', null]],
  [`http://h/f.json@sha256:${digest}/fp8`, ['http://h/f.json', digest, 'fp8/', null]],
  ['https://h/f.json/a//b/', ['https://h/f.json', null, 'a/b/', null]],
  ['https://h/f.json/Q4/m-00001-of-2.gguf', ['https://h/f.json', null, 'Q4/', 'm-00001-of-2.gguf']],
])('%s', (uri, [list, wanted, folder, file]) => {
  expect(parseListUri(uri)).toEqual({ list, digest: wanted, folder, file });
});

test.each([
  ...['https://', 'https://h', 'https://h/', 'https://h/model/', 'https://h/m.gguf', 'https://h/.json'],
  ...['http://h/f.json', 'https://h/f.json?token=x', 'https://h/f.json#x', 'https://me@h/f.json'],
  ...[
    'https://h/f.json@sha256:12',
    `https://h/f.json@sha256:${digest.toUpperCase()}`,
    'https://h:99999/f.json',
  ],
  ...[
    'https://h/f.json/../x',
    'https://h/../f.json',
    'https://h/a b.json',
    'ftp://h/f.json',
    'HTTPS://h/f.json',
  ],
])('%s is none', (uri) => {
  expect(parseListUri(uri)).toBeNull();
});
