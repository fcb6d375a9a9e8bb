import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { claimUri } from '@llmservice/checkpoint';
import { parseOciUri } from '@llmservice/checkpoint/oci';
import { mountedArtifact } from './checkpoint-uri.js';
import { mountedFolder, type Mounted } from './mounted-folder.js';

const root = mkdtempSync(join(tmpdir(), 'claim-'));
const claimAt = (name: string, at: string): Mounted => ({
  ...{ kind: 'claim', name, root: at },
  uriOf: (folder) => claimUri({ claim: name, folder }),
});
const claim = claimAt('models', root);
mkdirSync(join(root, 'qwen/fp8'), { recursive: true });
symlinkSync(join(root, 'qwen'), join(root, 'inside'));
symlinkSync('/etc', join(root, 'outside'));

test.each([
  ['', 'pvc://models/'],
  ['qwen/fp8', 'pvc://models/qwen/fp8/'],
  ['inside/fp8', 'pvc://models/inside/fp8/'],
])('"%s" is a folder of the claim', async (path, uri) => {
  expect(await mountedFolder(join(root, path), claim)).toBe(uri);
});

test.each([
  ['a folder that is not there', 'qwen/fp4', 'no such folder; at its top are inside, outside, qwen'],
  ['a link out of the claim', 'outside', 'leads out of the claim'],
])('%s is none', async (_, path, message) => {
  await expect(mountedFolder(join(root, path), claim)).rejects.toMatchObject({
    reason: 'ModelNotFound',
    message: expect.stringContaining(message) as unknown,
  });
});

test('a claim that is not mounted is named', async () => {
  const elsewhere = claimAt('other', join(root, 'nowhere'));
  await expect(mountedFolder(join(elsewhere.root, 'qwen'), elsewhere)).rejects.toThrow(
    'pvc://other/qwen/: the claim other is not mounted here',
  );
});

test('a folder of an image that is mounted is shown by the URI of the artifact', async () => {
  const place = parseOciUri('oci://registry.example.org/models/qwen:v1/qwen/fp8/');
  const uri = mountedArtifact(place!, root);
  expect(uri).toMatchObject({ kind: 'folder', dir: join(root, 'qwen/fp8/'), file: null });
  if (uri.kind !== 'folder' || uri.mounted === null) throw new Error('it is mounted');
  expect(await mountedFolder(uri.dir, uri.mounted)).toBe(
    'oci://registry.example.org/models/qwen:v1/qwen/fp8/',
  );
  await expect(mountedFolder(join(root, 'outside'), uri.mounted)).rejects.toThrow('leads out of the image');
});
