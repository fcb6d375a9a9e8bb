// From a local checkpoint to what requests need of it besides the engine: tokenizer, template, defaults.

import type { EngineInfo } from '@llmservice/native';
import { openLocalModel } from '@llmservice/checkpoint/local';
import type { EngineConfig } from '@llmservice/crds';
import { readCheckpointDefaults } from './checkpoint/read-checkpoint-defaults.js';
import { readChatTemplate, readTokenizerText } from './checkpoint/read-text-files.js';
import { readTokenizerInfo } from './checkpoint/read-tokenizer-info.js';
import { readIfThere } from './engine/read-if-there.js';
import type { ServedModel } from './http/replica/served-model.js';
import type { Fields } from './request/body/field-table.js';
import {
  generationDefaults,
  type CheckpointDefaults,
  type ServerDefaults,
} from './request/fields/generation-defaults.js';
import type { Logger } from './log/logger.js';
import { thinkIds } from './request/text/think-ids.js';
import { TextProcesses } from './text-processes/text-processes.js';
import { textRoomMb } from './text-processes/text-room.js';
import { requireRenderable } from './tokens/require-renderable.js';
import { TemplateRenderer } from './tokens/template-renderer.js';
import { thinksByItself } from './tokens/thinks-by-itself.js';
import { Tokenizer } from './tokens/tokenizer.js';
import { probeDialect, type ProbedDialect } from './tools/probe-dialect.js';
import { servedTools, type ToolSettings } from './tools/served-tools.js';

export interface ModelFiles {
  readonly tokenizer: Tokenizer;
  readonly chatTemplate: TemplateRenderer | null;
  /** Where long texts are encoded and rendered. To be closed. */
  readonly processes: TextProcesses;
  readonly defaults: CheckpointDefaults;
  readonly tokenizerInfo: Fields;
  /** Whether the chat template has the model think unless it is switched off. */
  readonly thinksByItself: boolean;
  /** How the chat template shows tools and writes calls; null: there is no template. */
  readonly probedDialect: ProbedDialect | null;
}

/**
 * @param model a folder, or a .gguf file
 * @throws FailureError TokenizerMissing, TokenizerInvalid, ChatTemplateInvalid, CheckpointCorrupt
 */
export async function readModelFiles(model: string, logger: Logger): Promise<ModelFiles> {
  const { dir, gguf } = await openLocalModel(model);
  const [text, template] = await Promise.all([readTokenizerText(dir, gguf), readChatTemplate(dir, gguf)]);
  // A file of strangers: a process reads it first, which may die of it.
  const processes = await TextProcesses.start({
    tokenizerJson: text.text,
    tokenizerName: text.name,
    template: template?.source ?? null,
    roomMb: textRoomMb(readIfThere),
    logger,
  });
  try {
    const chatTemplate = template === null ? null : new TemplateRenderer(template, processes);
    if (chatTemplate !== null) await requireRenderable(chatTemplate);
    const tokenizer = Tokenizer.fromJson(text.text, text.name, processes);
    return {
      tokenizer,
      chatTemplate,
      processes,
      defaults: await readCheckpointDefaults(dir, gguf, tokenizer),
      tokenizerInfo: await readTokenizerInfo(dir, gguf, template),
      thinksByItself: chatTemplate !== null && (await thinksByItself(chatTemplate)),
      probedDialect: chatTemplate === null ? null : await findDialect(chatTemplate, tokenizer, logger),
    };
  } catch (error) {
    await processes.close();
    throw error;
  }
}

async function findDialect(
  renderer: TemplateRenderer,
  tokenizer: Tokenizer,
  logger: Logger,
): Promise<ProbedDialect> {
  const probed = await probeDialect(renderer, tokenizer);
  const { dialect, written, describedBy } = probed;
  if (describedBy !== null)
    logger.info(
      'the chat template shows no tools: engine.toolsWithoutTemplate says what requests with them get',
    );
  else if (dialect === null && written !== null)
    logger.info('requests with tools are refused: calls as the chat template writes them have no reader', {
      written: written.slice(0, 200),
    });
  return probed;
}

/** What the configuration says of calls and reasoning; absent: as the checkpoint shows. */
type Settings = ToolSettings & Pick<EngineConfig['engine'], 'reasoningParser'>;

/**
 * What requests need, now that the engine has reported its limits.
 * @throws FailureError InvalidEngineConfig: the vocabulary lacks the tokens of the reasoning parser
 */
export function servedModel(
  { tokenizer, chatTemplate, defaults, tokenizerInfo, thinksByItself, probedDialect }: ModelFiles,
  server: ServerDefaults,
  info: EngineInfo,
  maxModelLen: number,
  settings: Settings,
): ServedModel {
  const tools =
    chatTemplate === null || probedDialect === null
      ? { chatTemplate: null, toolDialect: null }
      : servedTools(chatTemplate, probedDialect, tokenizer, settings);
  return {
    ...tools,
    tokenizer,
    defaults: generationDefaults(defaults, server, thinksByItself),
    eosIds: defaults.eosIds,
    vocabSize: info.vocabSize,
    maxModelLen,
    think: thinkIds(tokenizer, info.vocabSize, settings.reasoningParser),
    tokenizerInfo,
  };
}
