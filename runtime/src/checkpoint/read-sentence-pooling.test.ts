import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readSentencePooling } from './read-sentence-pooling.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pooling-'));
});
afterEach(() => rm(folder, { recursive: true }));

const cls = JSON.stringify({ word_embedding_dimension: 8, pooling_mode_cls_token: true });

test('a checkpoint that says nothing has no pooling of its own', async () => {
  expect(await readSentencePooling(folder, 8)).toBeNull();
});

test('the file in its folder is read, and what a pull made of it', async () => {
  await mkdir(join(folder, '1_Pooling'));
  await writeFile(join(folder, '1_Pooling', 'config.json'), cls);
  expect(await readSentencePooling(folder, 8)).toBe('cls');
  await rm(join(folder, '1_Pooling'), { recursive: true });
  await writeFile(join(folder, '1_Pooling.config.json'), cls.replace('cls_token', 'lasttoken'));
  expect(await readSentencePooling(folder, 8)).toBe('last');
});

test('what cannot be read is named', async () => {
  await writeFile(join(folder, 'modules.json'), '[{"path": "1_Pooling", "type": "x.Pooling"}]');
  await expect(readSentencePooling(folder, 8)).rejects.toMatchObject({ reason: 'CheckpointIncomplete' });
  await mkdir(join(folder, '1_Pooling', 'config.json'), { recursive: true });
  await expect(readSentencePooling(folder, 8)).rejects.toThrow('1_Pooling/config.json: EISDIR');
});
