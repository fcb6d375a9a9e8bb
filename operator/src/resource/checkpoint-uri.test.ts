import { expect, test } from '@jest/globals';
import { parseCheckpointUri } from './checkpoint-uri.js';

test.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '', file: null }],
  ['s3://bucket/a/b', { bucket: 'bucket', prefix: 'a/b/', file: null }],
  ['s3://bucket/a/b.gguf', { bucket: 'bucket', prefix: 'a/', file: 'b.gguf' }],
  ['s3://bucket/a//', { bucket: 'bucket', prefix: 'a/', file: null }],
  ['gs://bucket/a/b', { bucket: 'bucket', prefix: 'a/b/', file: null, google: true }],
  ['gs://bucket/a/b.gguf', { bucket: 'bucket', prefix: 'a/', file: 'b.gguf', google: true }],
  ['gs://', null],
  ['s3:///a', null],
  ['https://bucket/a', null],
  ['s3://bucket/a?x', null],
])('%s', (uri, location) => {
  expect(parseCheckpointUri(uri)).toEqual(location);
});
