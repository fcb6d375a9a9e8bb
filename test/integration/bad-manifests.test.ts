// Manifests with one fault each: whoever refuses them names the place, the API server at once or the operator in status.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { collectionPath, resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import { World } from './operator-world.js';

jest.setTimeout(180_000);

interface BadManifest {
  /** Path of the field that is wrong. */
  readonly at: string;
  readonly spec: Partial<Parameters<typeof llmService>[1]>;
}

const table = parse(readFileSync(new URL('bad-manifests.yaml', import.meta.url), 'utf8')) as Record<
  'refused' | 'reported',
  readonly BadManifest[]
>;
const titled = (rows: readonly BadManifest[]): [string, BadManifest][] =>
  rows.map((row) => [`${row.at} of ${JSON.stringify(row.spec)}`, row]);

let world: World;
beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  const labels = { 'llmservice.dev/secret-for': 'env' };
  await world.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', labels } });
  world.startOperator();
}, 600_000);
afterAll(() => world.stop());

test('there are two hundred', () => {
  const all = [...table.refused, ...table.reported].map((row) => JSON.stringify(row.spec));
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(200);
});

describe('the API server refuses', () => {
  test.each(titled(table.refused))('%s', async (_, { at, spec }) => {
    const manifest = llmService('bad', { model: { uri: 's3://b/m/' }, ...spec });
    const created = world.api.admin.request({
      method: 'POST',
      path: collectionPath(resources.llmServices, 'default'),
      query: { dryRun: 'All', fieldValidation: 'Strict' },
      body: manifest,
    });
    await expect(created).rejects.toThrow(at);
  });
});

describe('a condition reports', () => {
  test.each(titled(table.reported).map((row, index) => [...row, `reported-${String(index)}`] as const))(
    '%s',
    async (_, { at, spec }, name) => {
      await world.createService(name, {
        model: world.model('models/llama/'),
        resources: { limits: { memory: '1Gi' } },
        ...spec,
      });
      const condition = await eventually(`${name} stalled`, async () => {
        const { conditions = [] } = await world.status(name);
        return conditions.find(({ type, status }) => type === 'Stalled' && status === 'True') ?? null;
      });
      expect(condition.message).toContain(at);
    },
  );
});
