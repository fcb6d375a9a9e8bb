// Bodies of chat completions, completions and :predict as one typed, complete value, with the checkpoint's
// defaults filled in. Pure; the prompt is not yet tokens.

import type { SamplingParams } from '@llmservice/native';
import type { Fields, GenerationKind } from '../body/field-table.js';
import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import {
  alternativesOf,
  readDetails,
  violationsOfAlternatives,
  violationsOfDetails,
  type AnswerDetails,
} from '../fields/answer-details.js';
import { readAnswerFormat, type AnswerFormat } from '../fields/answer-format.js';
import { readChoices, readSeed, violationsOfChoices, type Choices } from '../fields/choices.js';
import type { GenerationDefaults } from '../fields/generation-defaults.js';
import {
  maxTokensField,
  readMaxTokens,
  violationsOfMaxTokens,
  violationsOfNone,
} from '../fields/max-tokens.js';
import { readMessages, type Message, type RawMessage } from '../fields/messages.js';
import { readTexts, type TextSource } from '../fields/prompt.js';
import { readEnding, violationsOfEnding, type PromptEnding } from '../fields/prompt-ending.js';
import { holdsCalls, readTools, type RequestTools } from '../fields/read-tools.js';
import { readSampling } from '../fields/sampling.js';
import { readModel, readScheduling, type Scheduling } from '../fields/scheduling.js';
import { readStopping, violationsOfStopping, type Stopping } from '../fields/stopping.js';
import { readStreaming, violationsOfStreaming, type Streaming } from '../fields/streaming.js';
import { readThinking, readThinkingBudget } from '../fields/thinking.js';
import { readRules, violationsOfRules, type AskedRules } from '../fields/token-rules.js';
import type { GenerationFields } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';

export interface MessagesSource {
  readonly kind: 'messages';
  readonly messages: readonly Message[];
  /** Variables of the chat template. */
  readonly templateKwargs: Fields;
  readonly ending: PromptEnding;
  /** What a checkpoint without a template is given instead (a :predict prompt); null: nothing. */
  readonly plainText: string | null;
}

/** What is to be continued, as the client gave it. */
export type PromptSource = TextSource | MessagesSource;

export interface ApiRequest extends Stopping, Scheduling, Streaming {
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  /** One generation per prompt; only completions may have several. */
  readonly prompts: readonly PromptSource[];
  /** Null: what is left of the context. 0: the prompt alone is echoed. */
  readonly maxTokens: number | null;
  /** What the client calls that. */
  readonly maxTokensField: string;
  readonly sampling: SamplingParams;
  readonly choices: Choices;
  /** Null: any token. */
  readonly rules: AskedRules | null;
  /** Tokens that the model may reason for; null: as many as it likes. */
  readonly thinkingBudget: number | null;
  readonly details: AnswerDetails;
  /** Of the prompt, those that are kept; null: all. */
  readonly keptPromptTokens: number | null;
  /** Whether they are its first, and not its last. */
  readonly keepsBeginning: boolean;
  /** Null: any text. */
  readonly format: AnswerFormat | null;
  /** Null: none may be called. */
  readonly tools: RequestTools | null;
}

/**
 * @param randomSeed used where the request has no seed
 * @throws ApiError invalid_request, with every violation
 */
export function parseRequest(
  kind: GenerationKind,
  body: unknown,
  defaults: GenerationDefaults,
  randomSeed: bigint,
): ApiRequest {
  return readRequest(kind, validateBody(kind, body), defaults, randomSeed);
}

/**
 * @param fields that are valid each for itself
 * @throws ApiError invalid_request, with every rule across fields that they break
 */
export function readRequest(
  kind: GenerationKind,
  fields: GenerationFields,
  defaults: GenerationDefaults,
  randomSeed: bigint,
): ApiRequest {
  const format = readAnswerFormat(fields);
  checkRules(kind, fields, format);
  const choices = readChoices(fields);
  const details = readDetails(fields);
  return {
    model: readModel(fields),
    prompts: readPrompts(kind, fields),
    maxTokens: readMaxTokens(kind, fields),
    maxTokensField: maxTokensField(fields),
    sampling: {
      ...readSampling(fields, defaults.sampling, readSeed(fields, randomSeed)),
      topLogprobs: alternativesOf(details, choices.generated > choices.given),
    },
    choices,
    rules: readRules(fields),
    thinkingBudget: readThinkingBudget(fields),
    details,
    keptPromptTokens: fields.truncate_prompt_tokens ?? null,
    keepsBeginning: fields.truncation_side === 'right',
    format,
    tools: readTools(fields),
    ...readStopping(fields),
    ...readScheduling(fields),
    ...readStreaming(fields),
  };
}

/** Rules across fields. */
function checkRules(kind: GenerationKind, fields: GenerationFields, format: AnswerFormat | null): void {
  const violations: Violation[] = [
    ...(kind === 'predict' && (fields.prompt === undefined) === (fields.messages === undefined)
      ? [violationAt('prompt', 'or messages is required, and not both')]
      : []),
    ...violationsOfAlternatives(fields),
    ...violationsOfNone(fields),
    ...violationsOfStreaming(fields),
    ...violationsOfMaxTokens(fields),
    ...violationsOfStopping(fields, format !== null),
    ...violationsOfChoices(fields),
    ...violationsOfRules(
      fields,
      readMaxTokens(kind, fields),
      format !== null || holdsCalls(readTools(fields)),
    ),
    ...violationsOfDetails(fields),
    ...violationsOfEnding(fields),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}

function readPrompts(kind: GenerationKind, fields: GenerationFields): PromptSource[] {
  const { prompt = [], messages = [] } = fields;
  if (kind === 'completions' || kind === 'generate')
    return readTexts(prompt, fields.add_special_tokens !== false);
  const plainText = typeof prompt === 'string' ? prompt : null;
  const asked: readonly RawMessage[] = plainText === null ? messages : [{ role: 'user', content: plainText }];
  return [
    {
      kind: 'messages',
      messages: readMessages(asked),
      templateKwargs: readThinking(kind, fields),
      ending: readEnding(fields),
      plainText,
    },
  ];
}
