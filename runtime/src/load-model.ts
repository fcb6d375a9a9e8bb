// From a local checkpoint to what requests need of it besides the engine: tokenizer, template, defaults.

import { FailureError } from '@llmservice/crds';
import type { EngineInfo } from '@llmservice/native';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findGguf, readLocalGguf } from './checkpoint/local-gguf.js';
import { readChatTemplate, readTokenizer } from './checkpoint/read-text-files.js';
import type { ServedModel } from './http/served-model.js';
import { generationDefaults, type GenerationDefaults } from './request/generation-defaults.js';
import type { ThinkIds } from './request/text-stream.js';
import type { ChatTemplate } from './tokens/chat-template.js';
import { ggufEosIds } from './tokens/gguf-tokenizer.js';
import type { ChatRenderer } from './tokens/template-renderer.js';
import type { Tokenizer } from './tokens/tokenizer.js';

export interface ModelFiles {
  readonly tokenizer: Tokenizer;
  readonly chatTemplate: ChatTemplate | null;
  readonly defaults: GenerationDefaults;
}

/**
 * @param model a folder, or a .gguf file
 * @throws FailureError TokenizerMissing, TokenizerInvalid, ChatTemplateInvalid, CheckpointCorrupt
 */
export async function readModelFiles(model: string): Promise<ModelFiles> {
  const file = await findGguf(model);
  const gguf = file === null ? null : await readLocalGguf(file, { arrays: true });
  const dir = file === null ? model : dirname(file);
  const config = gguf === null ? await readJson(dir, 'config.json') : { eos_token_id: ggufEosIds(gguf) };
  const [tokenizer, chatTemplate, generationConfig] = await Promise.all([
    readTokenizer(dir, gguf),
    readChatTemplate(dir, gguf),
    readJson(dir, 'generation_config.json'),
  ]);
  return { tokenizer, chatTemplate, defaults: generationDefaults(generationConfig, config ?? {}) };
}

/** What requests need, now that the engine has told its limits. */
export function servedModel(
  files: ModelFiles,
  chatTemplate: ChatRenderer | null,
  info: EngineInfo,
  maxModelLen: number,
): ServedModel {
  return {
    ...files,
    chatTemplate,
    eosIds: files.defaults.eosIds,
    vocabSize: info.vocabSize,
    maxModelLen,
    think: thinkIds(files.tokenizer),
  };
}

function thinkIds(tokenizer: Tokenizer): ThinkIds | null {
  const begin = tokenizer.tokenId('<think>');
  const end = tokenizer.tokenId('</think>');
  return begin === null || end === null ? null : { begin, end };
}

async function readJson(dir: string, name: string): Promise<Record<string, unknown> | null> {
  try {
    return JSON.parse(await readFile(join(dir, name), 'utf8')) as Record<string, unknown>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new FailureError(
      'CheckpointCorrupt',
      `${name}: ${(error as Error).message}`,
      { file: name },
      { cause: error },
    );
  }
}
