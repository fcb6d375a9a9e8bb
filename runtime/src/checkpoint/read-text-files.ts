// Reads the small text files of a pulled checkpoint into the parts that turn text into tokens and back.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError, type FailureReason } from '@llmservice/crds';
import { ChatTemplate } from '../tokens/chat-template.js';
import { Tokenizer } from '../tokens/tokenizer.js';

/** @throws FailureError TokenizerMissing */
export async function readTokenizer(modelDir: string): Promise<Tokenizer> {
  const file = join(modelDir, 'tokenizer.json');
  const text = await readIfThere(file, 'TokenizerMissing');
  if (text === null) throw new FailureError('TokenizerMissing', `there is no ${file}`);
  return Tokenizer.fromJson(text, file);
}

/** Null when the checkpoint has no chat template. @throws FailureError ChatTemplateInvalid */
export async function readChatTemplate(modelDir: string): Promise<ChatTemplate | null> {
  const config = await readIfThere(join(modelDir, 'tokenizer_config.json'), 'ChatTemplateInvalid');
  const jinja = await readIfThere(join(modelDir, 'chat_template.jinja'), 'ChatTemplateInvalid');
  return ChatTemplate.fromFiles(config, jinja);
}

async function readIfThere(file: string, reason: FailureReason): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    if (error.code === 'ENOENT') return null;
    throw new FailureError(reason, `${file} cannot be read: ${error.message}`, undefined, { cause });
  }
}
