import { expect, test } from '@jest/globals';
import { objectPath, resources } from '../kube/resources.js';
import { objectsOf } from './checkpoint-places.js';

const path = objectPath(resources.secrets, 'default', 's3');
const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };

test('offline, keys of the environment stand for a Secret that is not among the manifests', async () => {
  const id = Buffer.from('id').toString('base64');
  expect(await objectsOf([], null, keys, 'default').find(path)).toMatchObject({
    data: { AWS_ACCESS_KEY_ID: id },
  });
});

test('offline and without them it says what to give', async () => {
  await expect(objectsOf([], null, {}, 'default').find(path)).rejects.toThrow(
    /Secret s3 is not among the manifests; set AWS_ACCESS_KEY_ID and .* or have --diff/,
  );
});

test('in a cluster, what is not there is not there', async () => {
  const cluster = { find: () => Promise.resolve(null) };
  expect(await objectsOf([], cluster, {}, 'default').find(path)).toBeNull();
});
