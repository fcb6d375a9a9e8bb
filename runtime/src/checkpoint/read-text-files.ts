// What turns text into tokens and back: from the small text files of a pulled checkpoint, or from a GGUF file's metadata
// where they are not there.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasGgufTokenizer, type GgufHeader } from '@llmservice/checkpoint';
import { FailureError, type FailureReason } from '@llmservice/crds';
import { ChatTemplate } from '../tokens/chat-template.js';
import { checkAgreement } from '../tokens/gguf-agreement.js';
import { ggufSpecialTokens, ggufTokenizerJson } from '../tokens/gguf-tokenizer.js';
import { Tokenizer } from '../tokens/tokenizer.js';

/** The text of a tokenizer.json, and what errors call it. */
export interface TokenizerText {
  readonly text: string;
  readonly name: string;
}

/**
 * @param folder where tokenizer.json may lie
 * @param gguf of the GGUF file that the checkpoint is; null for safetensors
 * @throws FailureError TokenizerMissing, TokenizerInvalid
 */
export async function readTokenizerText(
  folder: string,
  gguf: GgufHeader | null = null,
): Promise<TokenizerText> {
  const file = join(folder, 'tokenizer.json');
  const text = await readIfThere(file, 'TokenizerMissing');
  if (text !== null) {
    if (gguf !== null) checkAgreement(text, file, gguf);
    return { text, name: file };
  }
  if (gguf !== null && hasGgufTokenizer(gguf))
    return { text: ggufTokenizerJson(gguf), name: `the tokenizer of ${gguf.file}` };
  throw new FailureError('TokenizerMissing', `there is no ${file}`);
}

/** A tokenizer for texts that nobody else wrote. Parameters and errors as of `readTokenizerText`. */
export async function readTokenizer(folder: string, gguf: GgufHeader | null = null): Promise<Tokenizer> {
  const { text, name } = await readTokenizerText(folder, gguf);
  return Tokenizer.fromJson(text, name);
}

/**
 * Null when the checkpoint has no chat template. Parameters as of `readTokenizerText`.
 * @throws FailureError ChatTemplateInvalid, TokenizerInvalid
 */
export async function readChatTemplate(
  folder: string,
  gguf: GgufHeader | null = null,
): Promise<ChatTemplate | null> {
  return (await readTemplateFiles(folder)) ?? ggufChatTemplate(gguf);
}

function ggufChatTemplate(gguf: GgufHeader | null): ChatTemplate | null {
  const template = gguf?.values.get('tokenizer.chat_template');
  if (gguf === null || typeof template !== 'string') return null;
  const tools = gguf.values.get('tokenizer.chat_template.tool_use');
  const named = [{ name: 'default', template }];
  if (typeof tools === 'string') named.push({ name: 'tool_use', template: tools });
  return ChatTemplate.compile(named, ggufSpecialTokens(gguf));
}

async function readTemplateFiles(modelDir: string): Promise<ChatTemplate | null> {
  const config = await readIfThere(join(modelDir, 'tokenizer_config.json'), 'ChatTemplateInvalid');
  const jinja = await readIfThere(join(modelDir, 'chat_template.jinja'), 'ChatTemplateInvalid');
  // As processors of transformers wrote it before they wrote Jinja files.
  const processor = await readIfThere(join(modelDir, 'chat_template.json'), 'ChatTemplateInvalid');
  return ChatTemplate.fromFiles(config, jinja, processor);
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
