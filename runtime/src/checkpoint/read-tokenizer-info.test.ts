import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ChatTemplate } from '../tokens/chat-template.js';
import { readTokenizerInfo } from './read-tokenizer-info.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenizer-info-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a tokenizer’s file, special tokens as texts, and the template that is used', async () => {
  const config = {
    tokenizer_class: 'Qwen2Tokenizer',
    eos_token: { content: '<|im_end|>', special: true },
    pad_token: '<pad>',
    name_or_path: '/home/someone/model',
    chat_template: 'of the file',
    model_max_length: 32768,
  };
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
  const template = ChatTemplate.fromFiles(JSON.stringify(config), 'in its own file');
  expect(await readTokenizerInfo(folder, null, template)).toEqual({
    tokenizer_class: 'Qwen2Tokenizer',
    bos_token: null,
    eos_token: '<|im_end|>',
    pad_token: '<pad>',
    chat_template: 'in its own file',
    model_max_length: 32768,
  });
});

test('of a checkpoint without the file, what clients read in any case', async () => {
  expect(await readTokenizerInfo(folder, null, null)).toEqual({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: null,
    eos_token: null,
    pad_token: null,
    chat_template: null,
  });
});
