import { expect, test } from '@jest/globals';
import { folder } from './preflight.fixture.js';
import { readModules } from './read-modules.js';

const modules = JSON.stringify([{ path: '1_Pooling', type: 'sentence_transformers.models.Pooling' }]);
const mean = JSON.stringify({ word_embedding_dimension: 8, pooling_mode_mean_tokens: true });

test('files that say how a checkpoint pools are part of what it is', async () => {
  const etags = new Map<string, string>();
  await readModules(folder({}), 8, etags);
  expect(etags.size).toBe(0);
  await readModules(folder({ 'modules.json': modules, '1_Pooling.config.json': mean }), 8, etags);
  expect([...etags.keys()]).toEqual(['modules.json', '1_Pooling.config.json']);
});

test('weights of a module are judged by their header', async () => {
  const listed = JSON.stringify([
    { path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
    { path: '2_Dense', type: 'sentence_transformers.models.Dense' },
  ]);
  const tensor = (shape: number[]): Buffer => {
    const end = 4 * shape.reduce((product, side) => product * side, 1);
    const header = JSON.stringify({ 'linear.weight': { dtype: 'F32', shape, data_offsets: [0, end] } });
    const length = Buffer.alloc(8);
    length.writeUInt32LE(header.length);
    return Buffer.concat([length, Buffer.from(header), Buffer.alloc(end)]);
  };
  const of = (shape: number[]): ReturnType<typeof readModules> =>
    readModules(
      folder({
        ...{ 'modules.json': listed, '1_Pooling.config.json': mean },
        '2_Dense.config.json': '{"in_features": 8, "out_features": 2, "bias": false}',
        '2_Dense.model.safetensors': tensor(shape),
      }),
      8,
      etags,
    );
  const etags = new Map<string, string>();
  expect((await of([2, 8])).dense).toMatchObject([{ inFeatures: 8, outFeatures: 2, activation: 'tanh' }]);
  expect([...etags.keys()].slice(2)).toEqual(['2_Dense.config.json', '2_Dense.model.safetensors']);
  await expect(of([8, 2])).rejects.toMatchObject({
    reason: 'CheckpointCorrupt',
    message: expect.stringContaining('linear.weight of [8, 2]; expected [2, 8], by 2_Dense/config.json'),
  });
});

test.each([
  ['the file is missing', { 'modules.json': modules }, 'CheckpointIncomplete'],
  [
    'it pools another width',
    { 'modules.json': modules, '1_Pooling.config.json': mean.replace('8', '9') },
    'CheckpointCorrupt',
  ],
  [
    'it pools by the maximum',
    { '1_Pooling.config.json': mean.replace('mean', 'max') },
    'UnsupportedArchitecture',
  ],
  ['it is far too long', { 'modules.json': ' '.repeat(2 ** 20 + 1) }, 'CheckpointCorrupt'],
])('a checkpoint is refused where %s', async (_, contents, reason) => {
  await expect(readModules(folder(contents), 8, new Map())).rejects.toMatchObject({ reason });
});
