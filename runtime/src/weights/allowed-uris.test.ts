import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allowedFolders, allowedUri } from './allowed-uris.js';
import { FolderSource } from './folder-source.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'llmservice-allowed-')));
const at = (...parts: string[]): string => join(root, ...parts);
for (const dir of ['models/a', 'models-too', 'secrets', 'hub/blobs', 'hub/snapshots/1'])
  mkdirSync(at(dir), { recursive: true });
symlinkSync(at('secrets'), at('models/out'));
symlinkSync(at('models'), at('link'));
afterAll(() => rmSync(root, { recursive: true }));

describe('a URI is allowed', () => {
  test.each<[string, string[], string]>([
    ['s3://models/team/a/', ['s3://models/team/'], 's3://models/team/a/'],
    ['s3://models/team', ['s3://models/team'], 's3://models/team'],
    ['s3://models/team/a.gguf', ['s3://models/'], 's3://models/team/a.gguf'],
    ['s3://models/any', ['s3://models'], 's3://models/any'],
    [at('models/a'), [at('models')], at('models/a')],
    [`file://${at('models/a')}`, [at('models/')], at('models/a')],
    [at('link/a'), [at('models')], at('models/a')],
    [at('models/a'), [at('link')], at('models/a')],
    [at('models/x.gguf'), [at('models')], at('models/x.gguf')],
  ])('%s below %j', async (uri, allowed, found) => {
    if (uri.endsWith('.gguf') && uri.startsWith('/')) writeFileSync(uri, '');
    expect(await allowedUri(uri, allowed)).toBe(found);
  });

  test.each<[string, string[]]>([
    ['s3://models/team/a/', []],
    ['s3://other/team/a/', ['s3://models/']],
    ['s3://models/team-b/a/', ['s3://models/team']],
    ['s3://models/team/../other/', ['s3://models/team/']],
    ['s3://models/./other/', ['s3://models/']],
    [at('models-too'), [at('models')]],
    [at('models/../secrets'), [at('models')]],
    [at('models/out'), [at('models')]],
    // Nobody learns whether it is there.
    [at('nowhere'), [at('models')]],
    ['/etc', [at('models'), 's3://etc/']],
  ])('and not %s with %j', async (uri, allowed) => {
    expect(await allowedUri(uri, allowed)).toBeNull();
  });

  test('also where nothing is, and then that is reported', async () => {
    await expect(allowedUri(at('models/b'), [at('models')])).rejects.toMatchObject({
      reason: 'ModelNotFound',
    });
    await expect(allowedUri('models', [])).rejects.toMatchObject({ reason: 'InvalidEngineConfig' });
  });
});

describe('files of a folder that are links', () => {
  writeFileSync(at('secrets/keys'), 'hunter2');
  writeFileSync(at('hub/blobs/1'), '{}');
  symlinkSync(at('hub/blobs/1'), at('hub/snapshots/1/config.json'));
  symlinkSync(at('secrets/keys'), at('models/a/chat_template.jinja'));

  test('may lead to the blobs of a Hugging Face cache', async () => {
    expect(await new FolderSource(at('hub/snapshots/1'), { alsoInto: [] }).list()).toEqual([
      { name: 'config.json', bytes: 2 },
    ]);
  });

  test('may not lead out of it, but below folders that are allowed', async () => {
    const refused = new FolderSource(at('models/a'), { alsoInto: [] }).list();
    await expect(refused).rejects.toMatchObject({
      reason: 'CheckpointIncomplete',
      message: expect.stringMatching(
        /chat_template\.jinja is a link to a file outside of its folder/,
      ) as unknown,
    });
    await expect(refused).rejects.not.toThrow(/secrets/);
    const roots = await allowedFolders([at('secrets'), 's3://models/', at('nowhere')]);
    expect(await new FolderSource(at('models/a'), { alsoInto: roots }).list()).toHaveLength(1);
  });
});
