import { expect, test } from '@jest/globals';
import { ociUri, parseOciUri, registryEndpoint } from './oci-uri.js';

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['oci://ghcr.io/org/model', ['ghcr.io', 'org/model', 'latest', '', null]],
  ['oci://ghcr.io/org/model/', ['ghcr.io', 'org/model', 'latest', '', null]],
  ['oci://ghcr.io/org/model:v1.0', ['ghcr.io', 'org/model', 'v1.0', '', null]],
  ['oci://localhost:5000/model:v1/', ['localhost:5000', 'model', 'v1', '', null]],
  [`oci://r.example/a/b/c@${digest}`, ['r.example', 'a/b/c', digest, '', null]],
  [`oci://r.example/a:v1@${digest}`, ['r.example', 'a', digest, '', null]],
  ['oci://r.example/a__b.c--d:v1/fp8//x', ['r.example', 'a__b.c--d', 'v1', 'fp8/x/', null]],
  ['oci://r.example/a:v1/Q4/m-00001-of-00002.gguf', ['r.example', 'a', 'v1', 'Q4/', 'm-00001-of-00002.gguf']],
])('%s', (uri, [registry, repository, reference, folder, file]) => {
  expect(parseOciUri(uri)).toEqual({ registry, repository, reference, folder, file });
});

test.each([
  ...['oci://', 'oci://model', 'oci:///org/model', 'oci://r.example/Org/model', 'oci://r.example/a:'],
  ...['oci://r.example/a@sha256:12', 'oci://r.example/a@v1', 'oci://r.example/a//b:v1'],
  ...[
    'oci://r.example/a:v1/../b',
    'oci://r.example/a:v1?x',
    'oci://r.example/a:v1 b',
    'oci://u@r.example/a:v1',
  ],
  ...['oci://r.example:123456/a:v1', 'oci://r.example/a..b:v1', 'OCI://r.example/a:v1', 's3://r.example/a'],
])('%s is none', (uri) => {
  expect(parseOciUri(uri)).toBeNull();
});

test('a place is written as it is read', () => {
  for (const uri of ['oci://r.example/a:v1/fp8/', `oci://r.example/a@${digest}/`]) {
    const place = parseOciUri(uri);
    expect(place === null ? null : ociUri(place)).toBe(uri);
  }
});

test('Docker Hub answers under a name of its own', () => {
  expect(registryEndpoint('docker.io', false)).toBe('https://registry-1.docker.io');
  expect(registryEndpoint('r.example:5000', true)).toBe('http://r.example:5000');
});
