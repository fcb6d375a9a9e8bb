// From a local checkpoint to what requests need of it besides the engine: tokenizer, template, defaults.

import type { EngineInfo } from '@llmservice/native';
import { openLocalModel } from '@llmservice/checkpoint/local';
import { readGenerationDefaults } from './checkpoint/read-generation-defaults.js';
import { readChatTemplate, readTokenizerText } from './checkpoint/read-text-files.js';
import { readIfThere } from './engine/read-if-there.js';
import type { ServedModel } from './http/replica/served-model.js';
import type { GenerationDefaults } from './request/fields/generation-defaults.js';
import type { Logger } from './log/logger.js';
import type { ThinkIds } from './request/text/reasoning.js';
import type { ChatTemplate } from './tokens/chat-template.js';
import { TextProcesses } from './text-processes/text-processes.js';
import { textRoomMb } from './text-processes/text-room.js';
import { requireRenderable } from './tokens/require-renderable.js';
import { TemplateRenderer } from './tokens/template-renderer.js';
import { Tokenizer } from './tokens/tokenizer.js';
import { findDialect } from './tools/dialect.js';

export interface ModelFiles {
  readonly tokenizer: Tokenizer;
  readonly chatTemplate: ChatTemplate | null;
  /** Where long texts are encoded and rendered. To be closed. */
  readonly processes: TextProcesses;
  readonly defaults: GenerationDefaults;
}

/**
 * @param model a folder, or a .gguf file
 * @throws FailureError TokenizerMissing, TokenizerInvalid, ChatTemplateInvalid, CheckpointCorrupt
 */
export async function readModelFiles(model: string, logger: Logger): Promise<ModelFiles> {
  const { dir, gguf } = await openLocalModel(model);
  const [text, chatTemplate] = await Promise.all([readTokenizerText(dir, gguf), readChatTemplate(dir, gguf)]);
  // A file of strangers: a process reads it first, which may die of it.
  const processes = await TextProcesses.start({
    tokenizerJson: text.text,
    tokenizerName: text.name,
    template: chatTemplate?.source ?? null,
    roomMb: textRoomMb(readIfThere),
    logger,
  });
  try {
    if (chatTemplate !== null) await requireRenderable(chatTemplate, processes);
    const tokenizer = Tokenizer.fromJson(text.text, text.name, processes);
    const defaults = await readGenerationDefaults(dir, gguf, tokenizer);
    return { tokenizer, chatTemplate, processes, defaults };
  } catch (error) {
    await processes.close();
    throw error;
  }
}

/** What requests need, now that the engine has reported its limits. */
export function servedModel(
  { tokenizer, chatTemplate, processes, defaults }: ModelFiles,
  info: EngineInfo,
  maxModelLen: number,
): ServedModel {
  return {
    tokenizer,
    chatTemplate: chatTemplate === null ? null : new TemplateRenderer(chatTemplate, processes),
    defaults,
    eosIds: defaults.eosIds,
    vocabSize: info.vocabSize,
    maxModelLen,
    think: thinkIds(tokenizer, info.vocabSize),
    toolDialect: findDialect(chatTemplate?.text ?? null, tokenizer),
  };
}

/** Null also where the model has no rows for them. */
function thinkIds(tokenizer: Tokenizer, vocabSize: number): ThinkIds | null {
  const begin = tokenizer.tokenId('<think>');
  const end = tokenizer.tokenId('</think>');
  return begin === null || end === null || Math.max(begin, end) >= vocabSize ? null : { begin, end };
}
