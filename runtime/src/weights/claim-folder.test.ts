import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { folderOnClaim } from './claim-folder.js';

const root = mkdtempSync(join(tmpdir(), 'claim-'));
const claim = { name: 'models', root };
mkdirSync(join(root, 'qwen/fp8'), { recursive: true });
symlinkSync(join(root, 'qwen'), join(root, 'inside'));
symlinkSync('/etc', join(root, 'outside'));

test.each([
  ['', 'pvc://models/'],
  ['qwen/fp8', 'pvc://models/qwen/fp8/'],
  ['inside/fp8', 'pvc://models/inside/fp8/'],
])('"%s" is a folder of the claim', async (path, uri) => {
  expect(await folderOnClaim(join(root, path), claim)).toBe(uri);
});

test.each([
  ['a folder that is not there', 'qwen/fp4', 'no such folder; at its top are inside, outside, qwen'],
  ['a link out of the claim', 'outside', 'leads out of the claim'],
])('%s is none', async (_, path, message) => {
  await expect(folderOnClaim(join(root, path), claim)).rejects.toMatchObject({
    reason: 'ModelNotFound',
    message: expect.stringContaining(message) as unknown,
  });
});

test('a claim that is not mounted is named', async () => {
  const elsewhere = { name: 'other', root: join(root, 'nowhere') };
  await expect(folderOnClaim(join(elsewhere.root, 'qwen'), elsewhere)).rejects.toThrow(
    'pvc://other/qwen/: the claim other is not mounted here',
  );
});
