// Bodies of chat completions, completions and :predict as one typed, complete value, with the checkpoint's
// defaults filled in. Pure; the prompt is not yet tokens.

import type { SamplingParams } from '@llmservice/native';
import type { RepetitionRule } from '../../tokens/repetition-detector.js';
import type { Fields, GenerationKind } from '../body/field-table.js';
import { invalidRequest, type Violation } from '../body/violation.js';
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
import { violationsOfEnding } from '../fields/prompt-ending.js';
import { holdsCalls, readTools, type RequestTools } from '../fields/read-tools.js';
import { readRepetition, violationsOfRepetition } from '../fields/repetition.js';
import { readSampling } from '../fields/sampling.js';
import { readModel, readScheduling, type Scheduling } from '../fields/scheduling.js';
import { readStopping, violationsOfStopping, type Stopping } from '../fields/stopping.js';
import { readStreaming, violationsOfStreaming, type Streaming } from '../fields/streaming.js';
import { readThinkingBudget, readThinks, violationsOfBudget } from '../fields/thinking.js';
import {
  readRules,
  violationsOfReported,
  violationsOfRules,
  type AskedRules,
} from '../fields/token-rules.js';
import type { GenerationFields } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';
import {
  readPrompts,
  violationsOfPredict,
  violationsOfTemplate,
  type PromptSource,
} from './prompt-source.js';
import { refuseMedia } from './refuse-media.js';

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
  /** Null: the answer may repeat itself. */
  readonly repetition: RepetitionRule | null;
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
  refuseMedia((body as Fields | null)?.['messages'], 'messages');
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
  const { compatibility } = defaults;
  checkRules(kind, fields, format, defaults);
  const choices = readChoices(fields);
  const details = readDetails(fields);
  const thinks = readThinks(kind, fields, defaults.thinks);
  const prompts = readPrompts(kind, fields, thinks);
  const isTemplated = prompts.some((prompt) => prompt.kind === 'messages');
  const thinksInFact =
    (isTemplated ? thinks : (compatibility.thinksOnTexts ?? defaults.thinks)) ?? defaults.thinksByItself;
  return {
    model: readModel(fields),
    prompts,
    maxTokens: readMaxTokens(kind, fields),
    maxTokensField: maxTokensField(fields),
    sampling: {
      ...readSampling(
        fields,
        defaults.sampling[thinksInFact ? 'thinking' : 'plain'],
        readSeed(fields, randomSeed),
      ),
      topLogprobs: alternativesOf(details, choices.generated > choices.given),
    },
    choices,
    rules: readRules(fields),
    repetition: readRepetition(fields),
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
function checkRules(
  kind: GenerationKind,
  fields: GenerationFields,
  format: AnswerFormat | null,
  { compatibility, takesTemplates }: GenerationDefaults,
): void {
  const violations: Violation[] = [
    ...(kind === 'predict' ? violationsOfPredict(fields) : []),
    ...violationsOfTemplate(fields, takesTemplates),
    ...violationsOfBudget(fields, compatibility),
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
    ...violationsOfReported(fields, readMaxTokens(kind, fields), readChoices(fields).generated),
    ...violationsOfRepetition(fields),
    ...violationsOfDetails(fields),
    ...violationsOfEnding(fields),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}
