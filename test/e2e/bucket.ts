// Checkpoints in the cluster's S3 server: the demo model, whole or with something wrong about it.

import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { readFiles, type Files } from '../builders/files.js';
import { nodeAddress, repository } from './cluster.js';

export const s3Keys = { accessKeyId: 'demo-access-key', secretAccessKey: 'demo-secret-key' } as const;
export const bucket = 'e2e';

const client = new S3Client({
  endpoint: `http://${nodeAddress}:9000`,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: s3Keys,
});

export function demoModel(): Record<string, Uint8Array> {
  return readFiles(join(repository, 'deploy/demo-model/checkpoint'));
}

/** Uploads `files` under a prefix of the tests' bucket and gives their URI. */
export async function upload(prefix: string, files: Files): Promise<string> {
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
    if (!/BucketAlready/.test(String(error))) throw error;
  });
  for (const [name, Body] of Object.entries(files))
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}/${name}`, Body }));
  return `s3://${bucket}/${prefix}/`;
}

/** The texts of all objects under a prefix of the tests' bucket. */
export async function textsUnder(prefix: string): Promise<string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
  const objects = Contents.map(({ Key }) => client.send(new GetObjectCommand({ Bucket: bucket, Key })));
  return Promise.all(objects.map(async (object) => (await object).Body?.transformToString() ?? ''));
}

/** The names of the model's weight files, in order. */
export const shardsOf = (files: Files): string[] =>
  Object.keys(files)
    .filter((name) => name.endsWith('.safetensors'))
    .sort();

/** Replaces one file by what `change` makes of it. */
export const changed = (files: Files, name: string, change: (content: Uint8Array) => Uint8Array): Files => ({
  ...files,
  [name]: change(files[name] ?? new Uint8Array()),
});

export const editConfig = (files: Files, edit: object): Files =>
  changed(files, 'config.json', (content) => {
    const config = JSON.parse(Buffer.from(content).toString('utf8')) as object;
    return Buffer.from(JSON.stringify({ ...config, ...edit }));
  });
