// Bodies of chat completions, completions and :predict as one typed, complete value, with the checkpoint's
// defaults filled in. Pure; the prompt is not yet tokens.

import type { SamplingParams } from '@llmservice/native';
import type { RepetitionRule } from '../../tokens/repetition-detector.js';
import type { Fields, GenerationKind } from '../body/field-table.js';
import { invalidRequest, type Violation } from '../body/violation.js';
import {
  alternativesOf,
  noDetails,
  readDetails,
  violationsOfAlternatives,
  violationsOfDetails,
  type AnswerDetails,
} from '../fields/answer-details.js';
import { readAnswerFormat, type AnswerFormat } from '../fields/answer-format.js';
import { oneChoice, readChoices, readSeed, violationsOfChoices, type Choices } from '../fields/choices.js';
import type { GenerationDefaults } from '../fields/generation-defaults.js';
import {
  defaultMaxTokens,
  maxTokensField,
  readKeptTokens,
  readMaxTokens,
  violationsOfMaxTokens,
  violationsOfNone,
  violationsOfTruncation,
  type KeptPromptTokens,
} from '../fields/max-tokens.js';
import { violationsOfEnding } from '../fields/prompt-ending.js';
import { holdsCalls, readTools, type RequestTools } from '../fields/read-tools.js';
import { readRepetition, violationsOfRepetition } from '../fields/repetition.js';
import { readSampling } from '../fields/sampling.js';
import { readModel, readScheduling, type Scheduling } from '../fields/scheduling.js';
import { modelsStopping, readStopping, violationsOfStopping, type Stopping } from '../fields/stopping.js';
import { readStreaming, violationsOfStreaming, type Streaming } from '../fields/streaming.js';
import { readThinkingBudget, readThinks, thinksUnlessSaid, violationsOfBudget } from '../fields/thinking.js';
import {
  readRules,
  violationsOfReported,
  violationsOfRules,
  type AskedRules,
} from '../fields/token-rules.js';
import type { GenerationFields } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';
import { familiesIn, type FieldFamily } from './field-families.js';
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
  readonly keptPromptTokens: KeptPromptTokens;
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
  const messages = (body as Fields | null)?.['messages'];
  if (!areTexts(messages)) refuseMedia(messages, 'messages');
  return readRequest(kind, validateBody(kind, body), defaults, randomSeed);
}

/** Whether a conversation has texts alone, and so no media. */
const areTexts = (messages: unknown): boolean =>
  Array.isArray(messages) &&
  messages.every(
    (each: Fields | null) =>
      typeof each?.['content'] === 'string' && each['type'] === undefined && each['output'] === undefined,
  );

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
  const asked = familiesIn(fields);
  const asksMaxTokens = asked.has('maxTokens');
  const limits: Limits = {
    format: asked.has('format') ? readAnswerFormat(fields) : null,
    tools: asked.has('tools') ? readTools(fields) : null,
    choices: asked.has('choices') ? readChoices(fields) : oneChoice,
    maxTokens: asksMaxTokens ? readMaxTokens(kind, fields) : defaultMaxTokens[kind],
  };
  checkRules(kind, fields, asked, limits, defaults);
  const { choices } = limits;
  const details = asked.has('details') ? readDetails(fields) : noDetails;
  const isRanked = choices.generated > choices.given;
  const thinks = asked.has('thinking')
    ? readThinks(kind, fields, defaults.thinks)
    : (defaults.thinks ?? thinksUnlessSaid[kind]);
  const prompts = readPrompts(kind, fields, asked, thinks);
  const isTemplated = prompts.some((prompt) => prompt.kind === 'messages');
  const thinksInFact =
    (isTemplated ? thinks : (defaults.compatibility.thinksOnTexts ?? defaults.thinks)) ??
    defaults.thinksByItself;
  return {
    ...limits,
    model: readModel(fields),
    prompts,
    maxTokensField: asksMaxTokens ? maxTokensField(fields) : 'max_tokens',
    sampling: {
      ...readSampling(
        fields,
        defaults.sampling[thinksInFact ? 'thinking' : 'plain'],
        asked.has('seed') ? readSeed(fields, randomSeed) : randomSeed,
      ),
      topLogprobs: asked.has('details') || isRanked ? alternativesOf(details, isRanked) : null,
    },
    rules: asked.has('rules') ? readRules(fields) : null,
    repetition: asked.has('repetition') ? readRepetition(fields) : null,
    thinkingBudget: asked.has('thinking') ? readThinkingBudget(fields) : null,
    details,
    keptPromptTokens: readKeptTokens(fields),
    keepsBeginning: fields.truncation_side === 'right',
    ...(asked.has('stopping') ? readStopping(fields) : modelsStopping),
    ...readScheduling(fields),
    ...readStreaming(fields),
  };
}

/** What rules of other families look at. */
type Limits = Pick<ApiRequest, 'format' | 'tools' | 'choices' | 'maxTokens'>;

/**
 * Rules across fields: each family's own come with its fields.
 * @throws ApiError invalid_request
 */
function checkRules(
  kind: GenerationKind,
  fields: GenerationFields,
  asked: ReadonlySet<FieldFamily>,
  { format, tools, choices, maxTokens }: Limits,
  { compatibility, takesTemplates }: GenerationDefaults,
): void {
  const of = (family: FieldFamily, rules: () => Violation[]): Violation[] =>
    asked.has(family) ? rules() : [];
  const violations: Violation[] = [
    ...(kind === 'predict' ? violationsOfPredict(fields) : []),
    ...violationsOfTemplate(fields, takesTemplates),
    ...of('thinking', () => violationsOfBudget(fields, compatibility)),
    ...of('details', () => violationsOfAlternatives(fields)),
    ...of('maxTokens', () => violationsOfNone(fields)),
    ...violationsOfStreaming(fields),
    ...violationsOfTruncation(fields),
    ...of('maxTokens', () => violationsOfMaxTokens(fields)),
    ...of('stopping', () => violationsOfStopping(fields, format !== null)),
    ...of('choices', () => violationsOfChoices(fields)),
    ...of('rules', () => violationsOfRules(fields, maxTokens, format !== null || holdsCalls(tools))),
    ...of('rules', () => violationsOfReported(fields, maxTokens, choices.generated)),
    ...of('repetition', () => violationsOfRepetition(fields)),
    ...of('details', () => violationsOfDetails(fields)),
    ...of('ending', () => violationsOfEnding(fields)),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}
