// Every kind of wrong input ends in its own reason with a remedy, at most one restart, and no pod where none was needed.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { failureKinds, type FailureReason } from '@llmservice/crds';
import { apply, eventually } from './cluster.js';
import { bucket, demoModel, shardsOf, upload, type Files } from './bucket.js';
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
  readonly options?: Partial<ServiceOptions>;
}

const without = (files: Files, name: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([key]) => key !== name));

/** Replaces one file by what `change` makes of it. */
const changed = (files: Files, name: string, change: (content: Uint8Array) => Uint8Array): Files => ({
  ...files,
  [name]: change(files[name] ?? new Uint8Array()),
});

const editConfig = (files: Files, edit: object): Files =>
  changed(files, 'config.json', (content) => {
    const config = JSON.parse(Buffer.from(content).toString('utf8')) as object;
    return Buffer.from(JSON.stringify({ ...config, ...edit }));
  });

/** 16 Mi positions: their KV cache is larger than the pod's memory. */
const withMorePositions = (files: Files): Files => {
  const config = JSON.parse(Buffer.from(files['config.json'] ?? '').toString('utf8')) as {
    text_config: object;
  };
  return editConfig(files, { text_config: { ...config.text_config, max_position_embeddings: 16_777_216 } });
};

const lastShard = (files: Files): string => shardsOf(files).at(-1) ?? '';

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
];

beforeAll(async () => {
  await makeNamespace();
  const model = demoModel();
  const good = await upload('demo', model);
  for (const { name, files, options } of badInputs) {
    const uri = options?.uri ?? (files === undefined ? good : await upload(name, files(model)));
    await apply(serviceOf(name, { ...options, uri }));
  }
});
afterAll(() => remove(...badInputs.map(({ name }) => name)));

describe('a service that cannot work', () => {
  test.each(badInputs)('tells $reason for $what, with a remedy', async ({ name, reason, beforePods }) => {
    const ready = await eventually(
      reason,
      async () => {
        const condition = await conditionOf(name, 'Ready');
        return condition?.reason === reason ? condition : null;
      },
      beforePods ? 10_000 : 120_000,
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
