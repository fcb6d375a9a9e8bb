import { expect, test } from '@jest/globals';
import type { Checkpoint } from '../domain/checkpoint.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { judgeCheckpoint } from './judge-checkpoint.js';
import { good } from './preflight.fixture.js';

const judged = (delivery: string, digest: string): Promise<Checkpoint> => {
  const model = { uri: 'oci://registry.example.org/models/m:v1', oci: { delivery } };
  const folders = { at: () => good, imageDigest: () => Promise.resolve(digest), close: () => undefined };
  const limits = { long: true, maxMs: 60_000, signal: new AbortController().signal };
  const source = { open: () => Promise.resolve(folders) };
  return judgeCheckpoint(source, wantedService({ model, engine: { runtime: 'vllm' } }), limits);
};

test('an image that is mounted is another checkpoint by each manifest, of which a tag keeps only the last', async () => {
  const [one, other] = [await judged('imageVolume', 'sha256:aa'), await judged('imageVolume', 'sha256:bb')];
  expect(one.imageDigest).toBe('sha256:aa');
  expect(other.fingerprint).not.toBe(one.fingerprint);
});

test('what is pulled is the same checkpoint by any manifest of the same files', async () => {
  const [one, other] = [await judged('pull', 'sha256:aa'), await judged('pull', 'sha256:bb')];
  expect(other).toEqual(one);
  expect(one.imageDigest).toBeUndefined();
});
