// What cannot serve, on a real S3 server: refused by its own reason, before any weight is fetched.

import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { safetensors } from '../builders/safetensors.js';
import { failureOf, nobodys, PullWorld, Recorder } from './pull-world.js';
import { s3Keys } from './s3-server.js';

let world: PullWorld;
beforeAll(async () => {
  world = await PullWorld.start();
}, 300_000);
beforeEach(() => world.begin());
afterEach(() => world.end());
afterAll(() => world.stop());
jest.setTimeout(120_000);

const without = (name: string): Record<string, string | Uint8Array> => {
  return Object.fromEntries(Object.entries(llamaCheckpoint()).filter(([each]) => each !== name));
};
const shard = 'model-00002-of-00002.safetensors';
const broken = (bytes: Uint8Array): Record<string, string | Uint8Array> => ({
  ...llamaCheckpoint(),
  [shard]: bytes,
});
const good = llamaCheckpoint()[shard] as Uint8Array;

test.each([
  [
    'an unknown model_type',
    llamaCheckpoint({ model_type: 'mamba' }),
    'UnsupportedArchitecture',
    'supported: llama',
  ],
  ['no config.json', { 'model.bin': 'x' }, 'ModelNotFound', 'found only model.bin'],
  ['a GGUF file that is none', { 'model.gguf': 'x' }, 'CheckpointCorrupt', 'model.gguf'],
  ['two GGUF files', { 'a.gguf': 'x', 'b.gguf': 'x' }, 'CheckpointIncomplete', 'for example a.gguf'],
  ['no tokenizer', without('tokenizer.json'), 'TokenizerMissing', 'tokenizer.json'],
  ['a missing shard', without(shard), 'CheckpointIncomplete', shard],
  ['a truncated shard', broken(good.slice(0, good.length - 7)), 'CheckpointIncomplete', 'cut short'],
  [
    'a shard with bytes to spare',
    broken(Buffer.concat([good, Buffer.from('x')])),
    'CheckpointCorrupt',
    shard,
  ],
  [
    'a corrupt header',
    broken(Buffer.concat([good.slice(0, 8), Buffer.from('not json'), good.slice(16)])),
    'CheckpointCorrupt',
    shard,
  ],
  [
    'a header length beyond the file',
    broken(Buffer.concat([Buffer.alloc(8, 0x7f), good.slice(8)])),
    'CheckpointCorrupt',
    shard,
  ],
  ['an empty shard', broken(new Uint8Array(0)), 'CheckpointCorrupt', shard],
  [
    'a shard without its tensor',
    broken(safetensors({ other: { dtype: 'F32', shape: [1] } })),
    'CheckpointIncomplete',
    'model.norm.weight',
  ],
])('a checkpoint with %s', async (name, files, reason, message) => {
  const prefix = `broken/${name.replaceAll(' ', '-')}`;
  world.put(prefix, files);
  const recorder = new Recorder();
  const failure = await failureOf(world.pull(prefix, {}, recorder));
  expect([failure.reason, failure.message]).toEqual([reason, expect.stringContaining(message)]);
  // Reported before any weight was fetched.
  expect(recorder.begun).toBeNull();
});

test('a prefix under which nothing lies', async () => {
  expect((await failureOf(world.pull('nowhere'))).reason).toBe('ModelNotFound');
});

test('a bucket that does not exist', async () => {
  const failure = await failureOf(world.pull('x', { uri: 's3://no-such-bucket/x/' }));
  expect(failure.reason).toBe('BucketNotFound');
});

test.each([
  ['a wrong secret', { ...s3Keys, secretAccessKey: 'wrong' }],
  ['an unknown key', { ...s3Keys, accessKeyId: 'nobody' }],
  ['no key', null],
])('a bucket behind %s', async (_, credentials) => {
  world.put('private', llamaCheckpoint());
  const stores = { s3: { ...world.access, credentials }, ...nobodys };
  expect((await failureOf(world.pull('private', { stores }))).reason).toBe('S3AccessDenied');
});

test('a local folder that is not there', async () => {
  expect((await failureOf(world.pull('', { uri: '/no/such/folder' }))).reason).toBe('ModelNotFound');
});
