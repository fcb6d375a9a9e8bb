// Every golden config.json with one field changed: what the plan accepts, the engine takes, and what is refused is refused by
// the name of the field. The engine parses no config.json, so that no change is read in two ways.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { describeCheckpoint } from '../../native/ts/describe-checkpoint.js';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { loadAddon } from '../../native/ts/load-addon.js';
import { modelsDir } from './golden-values.js';

type Json = Readonly<Record<string, unknown>>;

const addon = loadAddon(process.env['LLMSERVICE_NATIVE_ADDON']);
const models = readdirSync(modelsDir).filter((name) => existsSync(`${modelsDir}${name}/config.json`));

const changes: readonly unknown[] = [
  undefined,
  null,
  'gelu',
  -1,
  0,
  1.5,
  3,
  2 ** 31,
  true,
  false,
  [],
  {},
  [1],
];

interface Mutation {
  /** Of the changed field, with those around it. */
  readonly path: readonly string[];
  readonly value: unknown;
  readonly config: Json;
}

/** Of the object, and of the objects in it. */
function* mutations(object: Json, path: readonly string[] = []): Generator<Mutation> {
  for (const [key, old] of Object.entries(object)) {
    for (const value of changes) yield { path: [...path, key], value, config: { ...object, [key]: value } };
    if (typeof old !== 'object' || old === null || Array.isArray(old)) continue;
    for (const { config, ...mutation } of mutations(old as Json, [...path, key])) {
      yield { ...mutation, config: { ...object, [key]: config } };
    }
  }
}

/** What the engine says of a checkpoint of that shape whose tensors are all missing. */
async function reasonOfEngine(shape: ReturnType<typeof parseCheckpointConfig>): Promise<unknown> {
  const room = { blockSize: 16, numBlocks: 1, maxNumSeqs: 1, numStateSnapshots: 0, maxModelLen: 16 };
  const { quantization, ...options } = { ...plainOptions, ...room, maxNumBatchedTokens: 65 };
  const checkpoint = describeCheckpoint({ dir: '/nowhere', shape, tensors: [] }, quantization);
  return addon
    .load({ ...options, checkpoint, head: null }, null, () => undefined)
    .then(
      () => 'loaded',
      (error: unknown) => (error as { reason?: string }).reason ?? error,
    );
}

test.each(models)('%s with one field changed is read in one way', async (model) => {
  const config = JSON.parse(readFileSync(`${modelsDir}${model}/config.json`, 'utf8')) as Json;
  const accepted: string[] = [];
  for (const { path, value, config: changed } of mutations(config)) {
    const what = `${path.join('.')} = ${JSON.stringify(value)}`;
    try {
      const shape = parseCheckpointConfig(changed);
      expect([what, await reasonOfEngine(shape)]).toEqual([what, 'CheckpointIncomplete']);
      accepted.push(what);
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      expect(error.reason).toMatch(/^(CheckpointCorrupt|UnsupportedArchitecture|UnsupportedQuantization)$/);
    }
  }
  expect(accepted.length).toBeGreaterThan(0);
});
