// From a local checkpoint to what requests need of it besides the engine: tokenizer, template, defaults.

import type { EngineInfo } from '@llmservice/native';
import { openLocalModel } from '@llmservice/checkpoint/local';
import { FailureError, type EngineConfig } from '@llmservice/crds';
import { classifierOf, readClassifierTokens, type Heads } from './checkpoint/read-classifier.js';
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
import { findHarmony, type HarmonyTokens } from './harmony/harmony-tokens.js';
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
  /** Tokens that config.json names as a classifier's; null: none. */
  readonly classifierTokens: readonly string[] | null;
  /** Whether the chat template has the model think unless it is switched off. */
  readonly thinksByItself: boolean;
  /** How the chat template shows tools and writes calls; null: there is no template. */
  readonly probedDialect: ProbedDialect | null;
  /** The tokens of answers in channels; null: they have none. */
  readonly harmony: HarmonyTokens | null;
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
    const harmony = chatTemplate === null ? null : await findHarmony(chatTemplate, tokenizer);
    const probes = chatTemplate !== null && harmony === null;
    return {
      tokenizer,
      chatTemplate,
      processes,
      defaults: await readCheckpointDefaults(dir, gguf, tokenizer),
      tokenizerInfo: await readTokenizerInfo(dir, gguf, template),
      classifierTokens: await readClassifierTokens(dir, gguf),
      // No variable switches the thoughts of channels off.
      thinksByItself: harmony !== null || (chatTemplate !== null && (await thinksByItself(chatTemplate))),
      probedDialect: probes ? await findDialect(chatTemplate, tokenizer, logger) : null,
      harmony,
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

/** What the configuration says of calls, reasoning and labels; absent: as the checkpoint shows. */
type Settings = ToolSettings & Pick<EngineConfig['engine'], 'reasoningParser' | 'classifierFromToken'>;

/**
 * What requests need, now that the engine has reported its limits.
 * @throws FailureError InvalidEngineConfig: the vocabulary lacks the tokens of the reasoning parser or of the classifier, or a
 *   parser is named for a model that answers in channels, or tokens of a classifier for an encoder
 */
export function servedModel(
  files: ModelFiles,
  server: ServerDefaults,
  info: EngineInfo,
  maxModelLen: number,
  settings: Settings,
  heads: Heads,
): ServedModel {
  const { tokenizer, chatTemplate, defaults, tokenizerInfo, thinksByItself, probedDialect, harmony } = files;
  if (harmony !== null) requireNoParser(settings);
  const labels = settings.classifierFromToken ?? files.classifierTokens;
  if (labels !== null && info.bidirectional) throw encoderJudgesNot(info);
  const tools =
    chatTemplate === null || probedDialect === null
      ? { chatTemplate, toolDialect: null }
      : servedTools(chatTemplate, probedDialect, tokenizer, settings);
  return {
    ...tools,
    tokenizer,
    defaults: generationDefaults(defaults, server, thinksByItself),
    eosIds: defaults.eosIds,
    generates: heads.generates,
    pooling: heads.pooling ?? (info.bidirectional ? 'mean' : 'last'),
    projection: heads.projection,
    embeddingWidth: heads.embeddingWidth,
    matryoshka: heads.matryoshka,
    sentences: heads.sentences,
    embeds: heads.pooling !== null || !heads.generates,
    classifier:
      heads.classifier ?? (labels === null ? null : classifierOf(labels, tokenizer, info.vocabSize)),
    vocabSize: info.vocabSize,
    maxModelLen,
    think: harmony === null ? thinkIds(tokenizer, info.vocabSize, settings.reasoningParser) : null,
    harmony,
    tokenizerInfo,
  };
}

function encoderJudgesNot({ architecture }: EngineInfo): FailureError {
  const problem = `engine.classifierFromToken (classifier_from_token of config.json) names tokens, but ${architecture} has no logits of tokens: remove it`;
  return new FailureError('InvalidEngineConfig', problem);
}

/** @throws FailureError InvalidEngineConfig: a model that answers in channels is read in no other way */
function requireNoParser({ toolCallParser, reasoningParser }: Settings): void {
  for (const [field, parser] of Object.entries({ toolCallParser, reasoningParser })) {
    if (parser === undefined) continue;
    const problem = `engine.${field} is ${parser}, but the model answers in the channels of Harmony: remove it`;
    throw new FailureError('InvalidEngineConfig', problem);
  }
}
