// Headers as Google Cloud Storage documents them for its XML API.

import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { S3ByteSource } from './s3-byte-source.js';

const hashes: Readonly<Record<string, readonly string[]>> = {
  whole: ['crc32c=n03x6A==', 'md5=Ojk9c3dhfxgoKVVHYwFbHQ=='],
  composed: ['crc32c=n03x6A=='],
};
const asked: http.IncomingHttpHeaders[] = [];
const server = http.createServer(({ url = '', headers }, response) => {
  asked.push(headers);
  const name = url.split('/').at(-1)?.split('?')[0] ?? '';
  response.setHeader('etag', '"5d41402abc4b2a76b9719d911017c592"');
  response.setHeader('x-goog-hash', hashes[name] ?? []);
  response.setHeader('content-length', '11');
  response.end();
});
let client: S3Client;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = new S3Client({
    endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    region: 'auto',
    forcePathStyle: true,
    credentials: { accessKeyId: 'GOOG1E', secretAccessKey: 'secret' },
  });
});
afterAll(() => {
  client.destroy();
  server.close();
});

test.each([
  ['whole', { algorithm: 'md5', hex: '3a393d7377617f182829554763015b1d' }],
  ['composed', null],
])('%s: the digest is what the header of hashes says, whatever the ETag looks like', async (name, digest) => {
  const source = new S3ByteSource(client, 'bucket', 'm', { google: true });
  expect(source.uri).toBe('gs://bucket/m/');
  expect(await source.version(name)).toMatchObject({ name, bytes: 11, digest });
  // Of AWS alone.
  expect(asked.at(-1)).not.toHaveProperty('x-amz-checksum-mode');
});
