// The lines of operator-checklist.md that no other test shows, and that its other lines point at tests which are there.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import { parse } from 'yaml';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { Kubectl } from './kubectl.js';
import { World, type RunningOperator } from './operator-world.js';
import { WatchedClient } from './watched-client.js';

jest.setTimeout(180_000);

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const oneGi = { resources: { limits: { memory: '1Gi' } } };

let world: World;
beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
}, 600_000);
afterAll(() => world.stop());

describe('the table', () => {
  const rows = readFileSync(here('operator-checklist.md'), 'utf8')
    .split('\n')
    .map((line) => /^\| (\d+) \| .* \| ([\w-]+): (.*) \|$/.exec(line)?.slice(1) ?? [])
    .filter((row) => row.length > 0);

  test('has twenty lines', () => {
    expect(rows.map(([line]) => Number(line))).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test.each(rows.map((row) => row as [string, string, string]))(
    'line %s is shown by %s: %s',
    (_, file, title) => {
      const source = readFileSync(here(`${file}.test.ts`), 'utf8');
      expect(source.split('\n').some((line) => line.includes(`'${title}`))).toBe(true);
    },
  );
});

test('the status has no phase', () => {
  const crd = parse(readFileSync(here('../../crds/llmservices.llmservice.dev.yaml'), 'utf8')) as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { status: { properties: object } } } } }[] };
  };
  const { properties } = crd.spec.versions[0]!.schema.openAPIV3Schema.properties.status;
  expect(properties).toHaveProperty('conditions');
  expect(properties).not.toHaveProperty('phase');
});

describe('with an operator', () => {
  let operator: RunningOperator;
  /** Statuses of the service `fresh`, in the order in which they were written. */
  const written: LlmServiceStatus[] = [];
  beforeAll(() => {
    const client = new WatchedClient(world.api.kubeConfig('operator'));
    client.before = ({ path, body }) => {
      if (path.endsWith('/llmservices/fresh/status'))
        written.push((body as { status: LlmServiceStatus }).status);
    };
    operator = world.startOperator({}, client);
  });
  afterAll(() => operator.stop());

  test('a service that nobody reconciled yet gets every condition as Unknown first', async () => {
    await world.createService('fresh', { model: world.model('models/llama/'), ...oneGi });
    await world.condition('fresh', 'Fits', 'True');
    const first = written[0]?.conditions ?? [];
    expect(first.map(({ type }) => type)).toEqual(expect.arrayContaining(['ModelResolved', 'Fits', 'Ready']));
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set(['Unknown']));
  });

  test('kstatus takes a service for in progress, then for failed, each of its generation', async () => {
    await world.createService('read', { model: world.model('models/llama/'), ...oneGi });
    await world.condition('read', 'Reconciling', 'True');
    expect((await world.status('read')).observedGeneration).toBe(1);
    await world.patch(resources.llmServices, 'read', { spec: { model: { uri: 's3://models/absent/' } } });
    await world.condition('read', 'Stalled', 'True', 'ModelNotFound');
    await world.condition('read', 'Reconciling', 'False');
    const { observedGeneration, conditions } = await world.status('read');
    expect(observedGeneration).toBe(2);
    expect(new Set(conditions?.map((each) => each.observedGeneration))).toEqual(new Set([2]));
  });
});

test('a manifest comes back as it went: quantities, 64-bit integers; what it does not know is pruned, or refused if asked', async () => {
  const kubectl = new Kubectl(world.api.kubeConfig());
  const spec = {
    model: { uri: 's3://models/llama/' },
    accelerator: { resourceName: 'amd.com/gpu', memoryPerDevice: '49.5Gi' },
    sharedMemory: { sizeLimit: '1e9' },
    resources: { limits: { memory: '1.5Gi', cpu: '250m' }, requests: { cpu: 4 } },
    tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9007199254740991 }],
  };
  const manifest = (more: object): string =>
    JSON.stringify({
      apiVersion: 'llmservice.dev/v1alpha1',
      kind: 'LlmService',
      metadata: { name: 'round', namespace: 'default' },
      spec: { ...spec, ...more },
    });
  const unknown = manifest({ unheard: 1 });
  const strict = await kubectl.run(['create', '--validate=strict', '-f', '-'], unknown);
  expect(strict).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown field "spec.unheard"') });
  await kubectl.output(['create', '--validate=ignore', '-f', '-'], unknown);
  const back = JSON.parse(await kubectl.output(['get', 'llm', 'round', '-o', 'json'])) as { spec: object };
  expect(back.spec).toMatchObject(spec);
  expect(back.spec).not.toHaveProperty('unheard');
});
