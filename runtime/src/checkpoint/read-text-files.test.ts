import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseGgufHeader } from '@llmservice/checkpoint';
import { ggufFile, llamaGguf } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { readChatTemplate, readTokenizer, readTokenizerText } from './read-text-files.js';

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

test('a template of chat_template.json comes behind the other files', async () => {
  const rendered = async () => (await readChatTemplate(dir))?.render({ messages: [] });
  const template = (text: string) => JSON.stringify({ chat_template: text });
  await writeFile(join(dir, 'chat_template.json'), template('of the processor'));
  expect(await rendered()).toBe('of the processor');
  await writeFile(join(dir, 'tokenizer_config.json'), template('of the tokenizer'));
  expect(await rendered()).toBe('of the tokenizer');
  await writeFile(join(dir, 'chat_template.jinja'), 'of the file');
  expect(await rendered()).toBe('of the file');
});

test.each([
  ['[]', 'chat_template.json is not a JSON object'],
  ['{"chat_template": 3}', 'chat_template of chat_template.json is not a text'],
])('a chat_template.json of %s is refused', async (text, problem) => {
  await writeFile(join(dir, 'chat_template.json'), text);
  await expect(readChatTemplate(dir)).rejects.toMatchObject({
    reason: 'ChatTemplateInvalid',
    message: expect.stringContaining(problem),
  });
});

test('says which file cannot be read', async () => {
  await writeFile(join(dir, 'tokenizer.json'), '{');
  await expect(readTokenizer(dir)).rejects.toThrow(join(dir, 'tokenizer.json'));
});

test.each([
  ['the same', { h: 0, e: 1, l: 2, '<|eot|>': 8 }, null],
  ['more tokens, as those of a padded vocabulary', { h: 0, x: 10 }, null],
  ['a list, as Unigram has it', [['h', 0] as const, ['x', -1] as const], 'token 1 is "x", but "e" in'],
  ['another order', { e: 0, h: 1 }, 'token 0 is "e", but "h" in'],
])('beside a SentencePiece model, a tokenizer.json with %s', async (_, vocab, problem) => {
  const keys = {
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.scores': Array.from({ length: 10 }, () => 0),
  };
  const bytes = ggufFile(llamaGguf({ keys }));
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: true });
  const json = JSON.parse(tokenizerJson()) as { model: object };
  await writeFile(join(dir, 'tokenizer.json'), JSON.stringify({ ...json, model: { ...json.model, vocab } }));
  const read = readTokenizerText(dir, header);
  if (problem === null) await expect(read).resolves.toMatchObject({ name: join(dir, 'tokenizer.json') });
  else
    await expect(read).rejects.toMatchObject({
      reason: 'TokenizerInvalid',
      message: expect.stringContaining(problem),
    });
});
