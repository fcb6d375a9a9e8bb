// Endpoints belong to the services: those that answer late or never keep no others waiting, nor the reconciles.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ggufFile, llamaGguf } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { splitGguf } from '../../../checkpoint/src/formats/split-gguf.fixture.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { PreflightWorld, folder, good, service, until } from './preflight.fixture.js';

let world: PreflightWorld;
beforeEach(() => {
  world = new PreflightWorld();
});
afterEach(() => world.stop());

test('an endpoint that never answers is given up, and what was open is closed', async () => {
  world.start({ maxReadMs: 50 });
  const resolved = world.preflight.resolve('bad/a', service('bad'));
  await until(() => world.endpoints.opened.length === 1);
  world.lateMs = 49;
  expect(world.endpoints.opened).toEqual(['bad']);
  world.lateMs = 50;
  expect(await resolved).toMatchObject({
    state: 'unavailable',
    failure: { reason: 'S3Unavailable' },
    known: null,
  });
  expect(world.endpoints.opened).toEqual([]);
});

test('a model that only CPUs run is refused on a GPU, and read again for a CPU', async () => {
  world.endpoints.files.set('narrow', folder({ 'llama.gguf': ggufFile(llamaGguf()) }));
  const on = (accelerator: object) => ({ ...wantedService({ accelerator }), namespace: 'a', name: 'narrow' });
  expect(await world.preflight.resolve('a/narrow', on({ profile: 'l4' }))).toMatchObject({
    state: 'failed',
    failure: {
      reason: 'UnsupportedArchitecture',
      message: expect.stringContaining('no GPU kernels for heads that are no multiple of 16 features'),
    },
  });
  expect(await world.preflight.resolve('a/narrow', on({}))).toMatchObject({ state: 'resolved' });
});

test('an adapter that cannot be served is named at bounded length beside its model, and judged again soon', async () => {
  const config = JSON.stringify({ peft_type: 'x'.repeat(5_000) });
  const contents = { 'llama.gguf': ggufFile(llamaGguf()), 'adapter_config.json': config };
  world.endpoints.files.set('adapted', folder(contents));
  const adapters = [{ name: 'a', uri: 's3://models/a/' }];
  const adapted = { ...wantedService({ adapters }), namespace: 'a', name: 'adapted' };
  const result = await world.preflight.resolve('a/adapted', adapted);
  if (result.state !== 'resolved') throw new Error('the model is sound');
  const [refused, ...others] = result.checkpoint.refusedAdapters ?? [];
  expect(refused).toMatchObject({ at: 0, uri: 's3://models/a/' });
  expect(refused?.failure.message.length).toBeLessThanOrEqual(501);
  expect(others).toEqual([]);
  const { recheckMs } = world.preflight.look('a/adapted', adapted);
  expect(recheckMs).toBeLessThan(60_000);
});

test.each([
  ['cached', { kind: 'hostPath', path: '/cache' }],
  ['not cached', undefined],
])(
  'what earlier releases did not read is no part of the fingerprint that they gave: %s',
  async (name, cache) => {
    const judged = async (contents: Readonly<Record<string, string | Buffer>>) => {
      world.endpoints.files.set(name, folder({ 'm.gguf': ggufFile(llamaGguf()), ...contents }));
      const result = await world.preflight.resolve(`a/${Object.keys(contents).join()}`, {
        ...wantedService({ model: { uri: 's3://models/m/', ...(cache && { cache }) } }),
        namespace: 'a',
        name,
      });
      if (result.state !== 'resolved') throw new Error(JSON.stringify(result));
      return result.checkpoint;
    };
    const alone = await judged({});
    expect(alone.firstFingerprint).toBe(alone.fingerprint);
    const pooled = await judged({
      'modules.json': '[]',
      '1_Pooling.config.json': '{"pooling_mode_cls_token": true}',
    });
    expect(pooled.firstFingerprint).toBe(alone.fingerprint);
    expect(pooled.fingerprint).not.toBe(alone.fingerprint);
    expect(pooled.formerFingerprint).toBe(pooled.fingerprint);
    const prompted = await judged({
      'modules.json': '[]',
      '1_Pooling.config.json': '{"pooling_mode_cls_token": true}',
      'config_sentence_transformers.json': '{}',
      'sentence_bert_config.json': '{}',
    });
    expect(prompted.firstFingerprint).toBe(alone.fingerprint);
    expect(prompted.formerFingerprint).toBe(pooled.fingerprint);
    expect(prompted.fingerprint).not.toBe(pooled.fingerprint);
  },
);

test('a split GGUF file is judged by the headers of all its parts, which are read by ranges', async () => {
  const parts = splitGguf(ggufFile(llamaGguf()), 'm', 3);
  const [first = '', second = ''] = Object.keys(parts);
  const judged = (name: string, contents: Readonly<Record<string, Buffer>>, uri = 's3://models/m/') => {
    world.endpoints.files.set(name, folder(contents));
    return world.preflight.resolve(`a/${name}`, {
      ...wantedService({ model: { uri } }),
      namespace: 'a',
      name,
    });
  };
  const whole = await judged('whole', { 'm.gguf': ggufFile(llamaGguf()) });
  const split = await judged('split', parts);
  if (whole.state !== 'resolved' || split.state !== 'resolved') throw new Error('both are sound');
  expect(split.checkpoint.model).toEqual(whole.checkpoint.model);
  const fileBytes = Object.values(parts).reduce((sum, { length }) => sum + length, 0);
  expect(split.checkpoint.fileBytes).toBe(fileBytes);
  expect(await judged('named', parts, `s3://models/m/${first}`)).toMatchObject({ state: 'resolved' });
  // A part that was replaced is another checkpoint.
  const longer = Buffer.concat([parts[second]!, Buffer.alloc(32)]);
  const replaced = await judged('replaced', { ...parts, [second]: longer });
  expect(replaced).toMatchObject({ state: 'resolved' });
  expect(replaced).not.toMatchObject({ checkpoint: { fingerprint: split.checkpoint.fingerprint } });

  expect(await judged('second', parts, `s3://models/m/${second}`)).toMatchObject({
    failure: {
      reason: 'ModelNotFound',
      message: expect.stringContaining(`name the first part instead, ${first}`),
    },
  });
  const incomplete = Object.fromEntries(Object.entries(parts).filter(([name]) => name !== second));
  for (const uri of ['s3://models/m/', `s3://models/m/${first}`]) {
    expect(await judged(`missing-${uri.length}`, incomplete, uri)).toMatchObject({
      failure: { reason: 'CheckpointIncomplete', message: expect.stringContaining(`files: ${second}`) },
    });
  }
});

test('a hundred silent endpoints of a tenant keep no service of another waiting', async () => {
  for (let at = 0; at < 100; at += 1) {
    expect(world.preflight.look(`bad/${at}`, service('bad'))).toMatchObject({ result: null });
  }
  expect(world.preflight.look('good/a', service('good'))).toMatchObject({ result: null });
  await until(() => world.reported.length > 0);
  expect(world.reported).toEqual(['good/a']);
  expect(world.preflight.look('good/a', service('good'))).toMatchObject({ result: { state: 'resolved' } });
  expect(world.endpoints.opened).toEqual(['bad', 'bad', 'bad', 'bad']);
});

test('endpoints that did not answer leave half of the places to others', async () => {
  world.start({ maxReadMs: 500 });
  const bad = Array.from({ length: 20 }, (_, at) => `bad-${at}`);
  for (const namespace of bad) world.preflight.look(namespace, service(namespace));
  await until(() => world.endpoints.opened.length === 16);
  world.lateMs = 500;
  await until(() => world.reported.length === 16 && world.endpoints.opened.length === 4);
  world.lateMs = 1_000;
  await until(() => world.reported.length === 20);
  world.lateMs = 60_000;
  for (const namespace of bad) world.preflight.look(namespace, service(namespace));
  expect(await world.preflight.resolve('good/a', service('good'))).toMatchObject({ state: 'resolved' });
  expect(world.endpoints.opened).toHaveLength(8);
});

describe('a long header or index', () => {
  test('is read in its turn, and waits for no tenant that drips its own', async () => {
    for (const at of [1, 2, 3]) world.preflight.look(`bad/${at}`, service('long-silent'));
    await until(() => world.endpoints.opened.length === 1);
    // The index lists more than its file has: it was read to its end.
    expect(await world.preflight.resolve('long/a', service('long'))).toMatchObject({
      state: 'failed',
      failure: { reason: 'CheckpointIncomplete' },
    });
    expect(world.endpoints.opened).toEqual(['long-silent']);
  });

  test('takes none of its time while it waits', async () => {
    world.start({ maxReadMs: 1_000, maxLongReadMs: 1_000 });
    for (const at of [1, 2]) world.preflight.look(`mixed/${at}`, service('mixed', 'long-silent'));
    const third = world.preflight.resolve('mixed/3', service('mixed', 'long'));
    for (const before of [0, 1]) {
      await until(() => world.reported.length === before && world.endpoints.opened.length === 1);
      world.lateMs += 1_000;
    }
    expect(await third).toMatchObject({ state: 'failed' });
  });
});

test('what a service wants no more is read no more', async () => {
  world.preflight.look('bad/a', service('bad'));
  await until(() => world.endpoints.opened.length === 1);
  world.endpoints.files.set('bad', good);
  expect(await world.preflight.resolve('bad/a', { ...service('bad'), retry: '1' })).toMatchObject({
    state: 'resolved',
  });
  expect(world.endpoints.opened).toEqual([]);
  expect(world.reported).toEqual(['bad/a']);
});

test('the end of a read that was forgotten is reported to nobody, and its place is free', async () => {
  for (let at = 0; at < 8; at += 1) world.preflight.look(`bad/${at}`, service('bad'));
  await until(() => world.endpoints.opened.length === 4);
  for (let at = 0; at < 8; at += 1) world.preflight.forget(`bad/${at}`);
  await until(() => world.endpoints.opened.length === 0);
  expect(world.reported).toEqual([]);
  world.preflight.look('bad/9', service('bad'));
  await until(() => world.endpoints.opened.length === 1);
});

test('stopping closes all that is open', async () => {
  world.preflight.look('bad/a', service('bad'));
  await until(() => world.endpoints.opened.length === 1);
  world.preflight.stop();
  await until(() => world.endpoints.opened.length === 0);
});
