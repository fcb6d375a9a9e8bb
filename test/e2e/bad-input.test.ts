// Every kind of wrong input ends in its own reason with a remedy, at most one restart, and no pod where none was needed.

import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { failureKinds, type FailureReason } from '@llmservice/crds';
import type { Files } from '../builders/files.js';
import { eventually } from '../processes.js';
import { apply, getJson, repository } from './cluster.js';
import { bucket, changed, demoModel, editConfig, shardsOf, upload } from './bucket.js';
import { uploadSparse } from './padded-model.js';
import {
  conditionOf,
  makeNamespace,
  podsOf,
  remove,
  restartsOf,
  serviceOf,
  type ServiceOptions,
} from './service.js';

jest.setTimeout(240_000);

interface BadInput {
  readonly what: string;
  readonly name: string;
  readonly reason: FailureReason;
  /** Whether the operator sees it before it makes a pod. */
  readonly beforePods: boolean;
  readonly files?: (model: Files) => Files;
  /** Uploads the model in a way of its own, and gives its URI. */
  readonly store?: (prefix: string, model: Files) => Promise<string>;
  readonly options?: Partial<ServiceOptions>;
}

const same = (files: Files): Files => files;

const without = (files: Files, name: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([key]) => key !== name));

/** 16 Mi positions: their KV cache is larger than the pod's memory. */
const withMorePositions = (files: Files): Files => {
  const config = JSON.parse(Buffer.from(files['config.json'] ?? '').toString('utf8')) as {
    text_config: object;
  };
  return editConfig(files, { text_config: { ...config.text_config, max_position_embeddings: 16_777_216 } });
};

const lastShard = (files: Files): string => shardsOf(files).at(-1) ?? '';

/** Between what the node says it has, by which pods are scheduled, and what is still free of it. */
async function moreThanIsFree(): Promise<number> {
  const { bavail, bsize } = statfsSync(join(repository, '.local/cluster'));
  const { items } = await getJson<{
    items: readonly [{ status: { allocatable: { 'ephemeral-storage': string } } }];
  }>(['nodes']);
  const allocatable = Number(items[0].status.allocatable['ephemeral-storage']);
  return Math.floor((bavail * bsize + allocatable) / 2 / 2 ** 20) * 2 ** 20;
}

const badInputs: readonly BadInput[] = [
  {
    what: 'an unknown model_type',
    name: 'unknown-model-type',
    reason: 'UnsupportedArchitecture',
    beforePods: true,
    files: (model) => editConfig(model, { model_type: 'mystery' }),
  },
  {
    what: 'a wrong S3 key',
    name: 'wrong-key',
    reason: 'S3AccessDenied',
    beforePods: true,
    options: { credentials: 'wrong' },
  },
  {
    what: 'a missing bucket',
    name: 'missing-bucket',
    reason: 'BucketNotFound',
    beforePods: true,
    options: { uri: 's3://absent/model/' },
  },
  {
    what: 'an empty prefix',
    name: 'empty-prefix',
    reason: 'ModelNotFound',
    beforePods: true,
    options: { uri: `s3://${bucket}/nothing-here/` },
  },
  {
    what: 'a truncated shard',
    name: 'truncated-shard',
    reason: 'CheckpointIncomplete',
    beforePods: true,
    files: (model) => changed(model, lastShard(model), (content) => content.subarray(0, content.length / 2)),
  },
  {
    what: 'a corrupt safetensors header',
    name: 'corrupt-header',
    reason: 'CheckpointCorrupt',
    beforePods: true,
    files: (model) =>
      changed(model, lastShard(model), (content) =>
        Buffer.concat([Buffer.alloc(64, 0xff), content.subarray(64)]),
      ),
  },
  {
    what: 'a missing tokenizer',
    name: 'missing-tokenizer',
    reason: 'TokenizerMissing',
    beforePods: true,
    files: (model) => without(model, 'tokenizer.json'),
  },
  {
    what: 'a context longer than the model has positions',
    name: 'context-beyond-model',
    reason: 'InvalidEngineConfig',
    beforePods: true,
    options: { engine: { maxModelLen: 16_777_216 } },
  },
  {
    what: 'a context longer than fits into memory',
    name: 'context-beyond-memory',
    reason: 'KvCacheTooSmall',
    beforePods: true,
    files: withMorePositions,
    options: { engine: { maxModelLen: 16_777_216 } },
  },
  {
    what: 'a checkpoint larger than what is free of the node’s disk',
    name: 'full-disk',
    reason: 'WeightsDiskFull',
    beforePods: false,
    store: async (prefix, model) => uploadSparse(prefix, model, await moreThanIsFree()),
  },
];

beforeAll(async () => {
  await makeNamespace();
  const model = demoModel();
  for (const { name, files = same, store = upload, options } of badInputs) {
    const uri = options?.uri ?? (await store(name, files(model)));
    await apply(serviceOf(name, { ...options, uri }));
  }
});
afterAll(() => remove(...badInputs.map(({ name }) => name)));

describe('a service that cannot work', () => {
  test.each(badInputs)('reports $reason for $what, with a remedy', async ({ name, reason, beforePods }) => {
    const ready = await eventually(
      reason,
      async () => {
        const condition = await conditionOf(name, 'Ready');
        return condition?.reason === reason ? condition : null;
      },
      beforePods ? 60_000 : 120_000,
    );
    expect(ready.status).toBe('False');
    expect(ready.message).toContain(failureKinds[reason].remedy);
    const pods = await podsOf(name);
    if (beforePods) expect(pods).toEqual([]);
    else expect(restartsOf(pods)).toBeLessThanOrEqual(1);
  });

  test('stays refused: no pod appears later', async () => {
    await sleep(5_000);
    for (const { name, beforePods } of badInputs)
      if (beforePods) expect([name, await podsOf(name)]).toEqual([name, []]);
  });
});
