import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { readChatTemplate, readTokenizer } from './read-text-files.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'checkpoint-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

test('an empty folder has no tokenizer (a failure) and no template (none)', async () => {
  await expect(readTokenizer(dir)).rejects.toMatchObject({ reason: 'TokenizerMissing' });
  expect(await readChatTemplate(dir)).toBeNull();
});

test('reads what is there', async () => {
  await writeFile(join(dir, 'tokenizer.json'), tokenizerJson());
  await writeFile(join(dir, 'chat_template.jinja'), '{{ messages[0].content }}');
  expect((await readTokenizer(dir)).tokenId('hello')).not.toBeNull();
  expect((await readChatTemplate(dir))?.render({ messages: [{ content: 'x' }] })).toBe('x');
});

test('says which file cannot be read', async () => {
  await writeFile(join(dir, 'tokenizer.json'), '{');
  await expect(readTokenizer(dir)).rejects.toThrow(join(dir, 'tokenizer.json'));
});
