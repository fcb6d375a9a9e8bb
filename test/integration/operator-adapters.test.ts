// spec.adapters: judged before any pod is, counted in the memory plan, and changed without another pod template.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseCheckpointConfig } from '@llmservice/checkpoint';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World } from './operator-world.js';
import { randomAdapter } from './random-adapter.js';

jest.setTimeout(180_000);

let world: World;
const shapeOf = (config: object = {}) =>
  parseCheckpointConfig(String(llamaCheckpoint(config)['config.json']));
const adapter = (name: string) => ({ name, uri: `s3://models/${name}/` });
const spec = (adapters: object[], engine: object = { maxAdapters: 3 }) => ({
  model: world.model('models/base/'),
  resources: { limits: { memory: '1Gi' } },
  adapters: adapters as never,
  engine,
});

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'base', llamaCheckpoint());
  for (const [seed, name] of ['legal', 'support', 'poems'].entries()) {
    world.s3.put('models', name, randomAdapter(shapeOf(), { rank: 8, seed }));
  }
  world.s3.put('models', 'wide', randomAdapter(shapeOf(), { rank: 17, seed: 1 }));
  world.s3.put('models', 'foreign', randomAdapter(shapeOf({ intermediate_size: 192 }), { rank: 8, seed: 1 }));
  const { 'adapter_config.json': config, ...weights } = randomAdapter(shapeOf(), { rank: 8, seed: 1 });
  world.s3.put('models', 'no-config', weights);
  world.s3.put('models', 'no-weights', { 'adapter_config.json': config });
  world.startOperator();
}, 180_000);
afterAll(() => world.stop());

async function listOf(name: string): Promise<unknown> {
  const found = await world.get(resources.configMaps, `${name}-adapters`);
  const { data } = (found ?? {}) as { data?: Record<string, string> };
  return data === undefined ? null : JSON.parse(data['adapters.json'] ?? '');
}

describe('an adapter that cannot be served reaches no pod, and keeps nothing else from being served', () => {
  test.each([
    ['wide', 'the adapter has rank 17; there is room for ranks to 16 (engine.maxAdapterRank'],
    ['foreign', 'expected is [8, 128] by the adapter'],
    ['no-config', 'there is no adapter_config.json'],
    ['no-weights', 'missing weight files: adapter_model.safetensors'],
    ['base', 'there is no adapter_config.json'],
  ])('%s: %s', async (bad, part) => {
    const name = `bad-${bad}`;
    await world.createService(name, spec([adapter('legal'), { name: 'x', uri: `s3://models/${bad}/` }]));
    const { message } = await world.condition(name, 'AdaptersLoaded', 'False', 'AdapterRefused');
    expect(message).toContain(`spec.adapters[1].uri s3://models/${bad}/: `);
    expect(message).toContain(part);
    await world.condition(name, 'ModelResolved', 'True');
    await eventually('its list', async () => (await listOf(name)) !== null);
    expect(await listOf(name)).toEqual([adapter('legal')]);
  });
});

test('on a GPU there is room for them too', async () => {
  const engine = { maxAdapters: 3, image: 'example.org/cuda:1' };
  await world.createService('on-gpu', {
    ...spec([adapter('legal')], engine),
    accelerator: { profile: 'l4' },
  });
  await world.condition('on-gpu', 'Fits', 'True');
  await eventually('its list', async () => (await listOf('on-gpu')) !== null);
  expect(await listOf('on-gpu')).toEqual([adapter('legal')]);
  const rows = (await world.status('on-gpu')).memoryPlan?.rows ?? [];
  expect(rows.find(({ name }) => name === 'adapters')?.bytes).toBeGreaterThan(0);
});

test('the list changes without another pod template, and keeps what is good while a change is refused', async () => {
  await world.createService('main', spec([adapter('legal')]));
  const { metadata, spec: deployed } = await world.deployment('main');
  const [container] = (
    deployed?.template as { spec: { containers: { env: { name: string; value: string }[] }[] } }
  ).spec.containers;
  const env = new Map(container?.env.map(({ name, value }) => [name, value]));
  expect(env.get('LLMSERVICE_MAX_ADAPTERS')).toBe('3');
  expect(env.get('LLMSERVICE_ADAPTERS_DIR')).toBe('/etc/llmservice-adapters');
  expect(await listOf('main')).toEqual([adapter('legal')]);
  await world.condition('main', 'Fits', 'True');
  const rows = (await world.status('main')).memoryPlan?.rows ?? [];
  expect(rows.find(({ name }) => name === 'adapters')).toMatchObject({
    note: '3 of rank 16 and of all linear layers',
  });

  const change = (adapters: object[]) => world.patch(resources.llmServices, 'main', { spec: { adapters } });
  await change([adapter('legal'), adapter('support'), adapter('poems')]);
  await eventually('three adapters', async () => ((await listOf('main')) as unknown[]).length === 3);
  await change([adapter('legal'), { name: 'support', uri: 's3://models/wide/' }, adapter('wide')]);
  const { message } = await world.condition('main', 'AdaptersLoaded', 'False', 'AdapterRefused');
  expect(message).toContain('spec.adapters[1].uri s3://models/wide/: the adapter has rank 17');
  expect(message).toContain('spec.adapters[2].uri s3://models/wide/: the adapter has rank 17');
  await eventually('two adapters', async () => ((await listOf('main')) as unknown[]).length === 2);
  expect(await listOf('main')).toEqual([adapter('legal'), adapter('support')]);
  await change([adapter('poems')]);
  await eventually('one adapter', async () => ((await listOf('main')) as unknown[]).length === 1);
  expect((await world.deployment('main')).metadata.generation).toBe(metadata.generation);
  expect(await listOf('main')).toEqual([adapter('poems')]);
});

test('without engine.maxAdapters there is room for the list, which goes with it', async () => {
  await world.createService('list', spec([adapter('legal'), adapter('poems')], {}));
  const room = async () => {
    const { spec: deployed } = await world.deployment('list');
    return /"LLMSERVICE_MAX_ADAPTERS","value":"(\d+)"/.exec(JSON.stringify(deployed))?.[1] ?? null;
  };
  expect(await room()).toBe('2');
  await world.patch(resources.llmServices, 'list', { spec: { adapters: null } });
  await eventually('no room', async () => (await room()) === null);
});
