// From a local checkpoint to what requests need of it besides the engine: tokenizer, template, defaults.

import type { EngineInfo } from '@llmservice/native';
import { openLocalModel } from './checkpoint/local-gguf.js';
import { readGenerationDefaults } from './checkpoint/read-generation-defaults.js';
import { readChatTemplate, readTokenizer } from './checkpoint/read-text-files.js';
import type { ServedModel } from './http/replica/served-model.js';
import type { GenerationDefaults } from './request/parts/generation-defaults.js';
import type { ThinkIds } from './request/text/reasoning.js';
import type { ChatTemplate } from './tokens/chat-template.js';
import type { ChatRenderer } from './tokens/template-renderer.js';
import type { Tokenizer } from './tokens/tokenizer.js';
import { findDialect } from './tools/dialect.js';

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
  const { dir, gguf } = await openLocalModel(model);
  const [tokenizer, chatTemplate] = await Promise.all([
    readTokenizer(dir, gguf),
    readChatTemplate(dir, gguf),
  ]);
  return { tokenizer, chatTemplate, defaults: await readGenerationDefaults(dir, gguf, tokenizer) };
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
    think: thinkIds(files.tokenizer, info.vocabSize),
    toolDialect: findDialect(files.chatTemplate?.text ?? null, files.tokenizer),
  };
}

/** Null also where the model has no rows for them. */
function thinkIds(tokenizer: Tokenizer, vocabSize: number): ThinkIds | null {
  const begin = tokenizer.tokenId('<think>');
  const end = tokenizer.tokenId('</think>');
  return begin === null || end === null || Math.max(begin, end) >= vocabSize ? null : { begin, end };
}
