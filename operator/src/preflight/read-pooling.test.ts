import { expect, test } from '@jest/globals';
import { folder } from './preflight.fixture.js';
import { checkPooling } from './read-pooling.js';

const modules = JSON.stringify([{ path: '1_Pooling', type: 'sentence_transformers.models.Pooling' }]);
const mean = JSON.stringify({ word_embedding_dimension: 8, pooling_mode_mean_tokens: true });

test('files that say how a checkpoint pools are part of what it is', async () => {
  const etags = new Map<string, string>();
  await checkPooling(folder({}), 8, etags);
  expect(etags.size).toBe(0);
  await checkPooling(folder({ 'modules.json': modules, '1_Pooling.config.json': mean }), 8, etags);
  expect([...etags.keys()]).toEqual(['modules.json', '1_Pooling.config.json']);
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
  await expect(checkPooling(folder(contents), 8, new Map())).rejects.toMatchObject({ reason });
});
