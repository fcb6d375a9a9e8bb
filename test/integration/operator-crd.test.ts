// What the API server itself refuses, with a message that names the field and the remedy; no webhook is involved.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { refusal, World } from './operator-world.js';

jest.setTimeout(60_000);

let world: World;
const model = { uri: 's3://bucket/folder/' };

beforeAll(async () => {
  world = await World.start();
}, 180_000);

afterAll(() => world.stop());

describe('a bad object is refused', () => {
  test.each<[string, object, string]>([
    ['another scheme', { model: { uri: 'hf://org/name' } }, 'spec.model.uri'],
    ['no model', {}, 'spec.model'],
    ['ranks that differ from devices', { model, parallelism: { tensor: 2 } }, 'spec.parallelism.tensor'],
    ['a block of 48 tokens', { model, engine: { blockSize: 48 } }, 'spec.engine.blockSize'],
    [
      'too small a step',
      { model, engine: { maxNumSeqs: 200, maxNumBatchedTokens: 200 } },
      'maxNumBatchedTokens',
    ],
    ['a host with a scheme', { model, routing: { host: 'https://x.org' } }, 'spec.routing.host'],
    ['a quantity that is none', { model, accelerator: { memoryPerDevice: 'lots' } }, 'memoryPerDevice'],
    [
      'a variable of the operator',
      { model, env: [{ name: 'LLMSERVICE_X', value: '1' }] },
      'spec.env[0].name',
    ],
    ['negative replicas', { model, replicas: -1 }, 'spec.replicas'],
  ])('%s', async (_name, spec, field) => {
    const error = await refusal(world.createService('bad', spec as never));
    expect(error.status).toBe(422);
    expect(error.message).toContain(field);
  });
});

test('an unknown field is pruned, and defaults are filled in', async () => {
  await world.createService('plain', { model, surprise: true } as never);
  const spec = (await world.get(resources.llmServices, 'plain'))?.['spec'];
  expect(spec).not.toHaveProperty('surprise');
  expect(spec).toMatchObject({ replicas: 1, engine: { maxNumSeqs: 64, memoryUtilizationPercent: 85 } });
});
