import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { DenseModule } from '../../config/dense-module.js';
import { noSettings } from '../../config/sentence-settings.js';
import { readDenseLayer, readLocalModules } from './dense-layers.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pooling-'));
});
afterEach(() => rm(folder, { recursive: true }));

const cls = JSON.stringify({ word_embedding_dimension: 8, pooling_mode_cls_token: true });

test('a checkpoint that says nothing has no pooling of its own', async () => {
  expect(await readLocalModules(folder, 8)).toEqual({ pooling: null, dense: [], settings: noSettings });
});

test('the file in its folder is read, and what a pull made of it', async () => {
  await mkdir(join(folder, '1_Pooling'));
  await writeFile(join(folder, '1_Pooling', 'config.json'), cls);
  expect(await readLocalModules(folder, 8)).toMatchObject({ pooling: 'cls' });
  await rm(join(folder, '1_Pooling'), { recursive: true });
  await writeFile(join(folder, '1_Pooling.config.json'), cls.replace('cls_token', 'lasttoken'));
  expect(await readLocalModules(folder, 8)).toMatchObject({ pooling: 'last' });
});

test('what cannot be read is named', async () => {
  await writeFile(join(folder, 'modules.json'), '[{"path": "1_Pooling", "type": "x.Pooling"}]');
  await expect(readLocalModules(folder, 8)).rejects.toMatchObject({ reason: 'CheckpointIncomplete' });
  await mkdir(join(folder, '1_Pooling', 'config.json'), { recursive: true });
  await expect(readLocalModules(folder, 8)).rejects.toThrow('1_Pooling/config.json: EISDIR');
});

const tensors = {
  'linear.bias': { dtype: 'F16', shape: [1], data_offsets: [0, 2] },
  'linear.weight': { dtype: 'BF16', shape: [1, 2], data_offsets: [2, 6] },
};

test('weights are read in their types, in their folder and under their flat name', async () => {
  const header = Buffer.from(JSON.stringify(tensors));
  const length = Buffer.alloc(8);
  length.writeUInt32LE(header.length);
  // 1.5 in F16; 1 and -2 in BF16.
  const values = Buffer.from([0x00, 0x3e, 0x80, 0x3f, 0x00, 0xc0]);
  const dense: DenseModule = {
    ...{ path: '2_Dense/config.json', weightsFile: '2_Dense.model.safetensors' },
    ...{ inFeatures: 2, outFeatures: 1, bias: true },
    activation: 'tanh',
  };
  await expect(readDenseLayer(folder, dense)).rejects.toMatchObject({ reason: 'CheckpointIncomplete' });
  const expected = {
    ...{ weights: Float32Array.of(1, -2), bias: Float32Array.of(1.5), inFeatures: 2, activation: 'tanh' },
  };
  await writeFile(join(folder, dense.weightsFile), Buffer.concat([length, header, values]));
  expect(await readDenseLayer(folder, dense)).toEqual(expected);
  await rm(join(folder, dense.weightsFile));
  await mkdir(join(folder, '2_Dense'));
  await writeFile(join(folder, '2_Dense', 'model.safetensors'), Buffer.concat([length, header, values]));
  expect(await readDenseLayer(folder, dense)).toEqual(expected);
});
