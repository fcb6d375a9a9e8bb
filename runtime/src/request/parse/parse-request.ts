// Bodies of chat completions, completions and :predict as one typed, complete value, with the checkpoint's
// defaults filled in. Pure; the prompt is not yet tokens.

import type { SamplingParams } from '@llmservice/native';
import {
  alternativesOf,
  readDetails,
  violationsOfDetails,
  type AnswerDetails,
} from '../parts/answer-details.js';
import { readAnswerFormat, type AnswerFormat } from '../parts/answer-format.js';
import { readChoices, violationsOfChoices, type Choices } from '../parts/choices.js';
import type { GenerationDefaults } from '../parts/generation-defaults.js';
import { maxTokensField, readMaxTokens } from '../parts/max-tokens.js';
import { readMessages, type Message } from '../parts/messages.js';
import { readEnding, violationsOfEnding, type PromptEnding } from '../parts/prompt-ending.js';
import { holdsCalls, readTools, type RequestTools } from '../parts/read-tools.js';
import { readThinking, readThinkingBudget } from '../parts/thinking.js';
import type { GenerationKind } from '../body/request-fields.js';
import { readRules, violationsOfRules, type AskedRules } from '../parts/token-rules.js';
import { invalidRequest, validateBody, type Fields, type Violation } from '../body/validate-body.js';

/** A text, or its tokens. */
export type TextSource =
  | { readonly kind: 'text'; readonly text: string; readonly addSpecialTokens: boolean }
  | { readonly kind: 'ids'; readonly ids: readonly number[] };

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

export interface ApiRequest {
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
  /** Tokens at the prompt's end that are kept; null: all. */
  readonly keptPromptTokens: number | null;
  /** Null: any text. */
  readonly format: AnswerFormat | null;
  /** Null: none may be called. */
  readonly tools: RequestTools | null;
  readonly stopStrings: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStopString: boolean;
  readonly ignoreEos: boolean;
  readonly skipSpecialTokens: boolean;
  /** Only requests with the same salt share cached prefixes; null: all that have none. */
  readonly cacheSalt: string | null;
  /** Whose share of the engine it takes. */
  readonly fairnessKey: string;
  /** Null: it did not say. */
  readonly priority: number | null;
  readonly maxQueueMs: number | null;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** As in vLLM: what is divided by less leaves the range of floats. */
const greedyBelow = 1e-5;

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
  fields: Fields,
  defaults: GenerationDefaults,
  randomSeed: bigint,
): ApiRequest {
  const format = readAnswerFormat(fields);
  checkRules(kind, fields, format);
  const stop = fields['stop'] as string | readonly string[] | undefined;
  const streamOptions = fields['stream_options'] as { include_usage?: boolean | null } | undefined;
  const maxQueueSeconds = fields['max_queue_seconds'] as number | undefined;
  const choices = readChoices(fields);
  const details = readDetails(kind, fields);
  return {
    model: (fields['model'] as string | undefined) ?? null,
    prompts: readPrompts(kind, fields),
    maxTokens: readMaxTokens(kind, fields),
    maxTokensField: maxTokensField(fields),
    sampling: {
      ...readSampling(fields, defaults, randomSeed),
      topLogprobs: alternativesOf(details, choices.generated > choices.given),
    },
    choices,
    rules: readRules(fields),
    thinkingBudget: readThinkingBudget(fields),
    details,
    keptPromptTokens: (fields['truncate_prompt_tokens'] as number | undefined) ?? null,
    format,
    tools: readTools(fields),
    stopStrings: stop === undefined ? [] : typeof stop === 'string' ? [stop] : stop,
    stopTokenIds: (fields['stop_token_ids'] as readonly number[] | undefined) ?? [],
    includeStopString: fields['include_stop_str_in_output'] === true,
    ignoreEos: fields['ignore_eos'] === true,
    skipSpecialTokens: fields['skip_special_tokens'] !== false,
    cacheSalt: (fields['cache_salt'] as string | undefined) ?? null,
    fairnessKey: (fields['user'] as string | undefined) ?? '',
    priority: (fields['priority'] as number | undefined) ?? null,
    maxQueueMs: maxQueueSeconds === undefined ? null : maxQueueSeconds * 1000,
    stream: fields['stream'] === true,
    includeUsage: streamOptions?.include_usage === true,
  };
}

/** Rules across fields. */
function checkRules(kind: GenerationKind, fields: Fields, format: AnswerFormat | null): void {
  const violations: Violation[] = [];
  const conflict = (param: string, rule: string): number =>
    violations.push({ param, message: `${param} ${rule}` });
  if (kind === 'predict' && (fields['prompt'] === undefined) === (fields['messages'] === undefined)) {
    conflict('prompt', 'or messages is required, and not both');
  }
  if (((fields['top_logprobs'] as number | undefined) ?? 0) > 0 && fields['logprobs'] !== true) {
    conflict('top_logprobs', 'needs logprobs: true');
  }
  if (fields['max_tokens'] === 0 && fields['echo'] !== true) {
    conflict('max_tokens', 'must be at least 1; 0 needs echo: true, and scores the prompt alone');
  }
  if (fields['stream_options'] !== undefined && fields['stream'] !== true) {
    conflict('stream_options', 'needs stream: true');
  }
  if (
    fields['max_tokens'] !== undefined &&
    fields['max_completion_tokens'] !== undefined &&
    fields['max_tokens'] !== fields['max_completion_tokens']
  ) {
    conflict('max_tokens', 'and max_completion_tokens differ');
  }
  if (fields['ignore_eos'] === true && format !== null) {
    conflict('ignore_eos', 'and structured output exclude each other: the grammar ends the answer');
  }
  violations.push(
    ...violationsOfChoices(fields),
    ...violationsOfRules(
      fields,
      readMaxTokens(kind, fields),
      format !== null || holdsCalls(readTools(fields)),
    ),
    ...violationsOfDetails(fields),
    ...violationsOfEnding(fields),
  );
  if (violations.length > 0) throw invalidRequest(violations);
}

function readPrompts(kind: GenerationKind, fields: Fields): PromptSource[] {
  const prompt = fields['prompt'];
  if (kind !== 'completions' && kind !== 'generate') {
    const plainText = typeof prompt === 'string' ? prompt : null;
    const messages = plainText === null ? fields['messages'] : [{ role: 'user', content: plainText }];
    return [
      {
        kind: 'messages',
        messages: readMessages(messages),
        templateKwargs: readThinking(kind, fields),
        ending: readEnding(fields),
        plainText,
      },
    ];
  }
  return readTexts(prompt, fields['add_special_tokens'] !== false);
}

/** One text or list of token ids, or a list of either. */
export function readTexts(given: unknown, addSpecialTokens: boolean): TextSource[] {
  const one = (each: unknown): TextSource =>
    typeof each === 'string'
      ? { kind: 'text', text: each, addSpecialTokens }
      : { kind: 'ids', ids: each as readonly number[] };
  const isList = Array.isArray(given) && typeof given[0] !== 'number';
  return isList ? given.map(one) : [one(given)];
}

function readSampling(
  fields: Fields,
  { sampling }: GenerationDefaults,
  randomSeed: bigint,
): Omit<SamplingParams, 'topLogprobs'> {
  const number = (name: string, fallback: number): number => (fields[name] as number | undefined) ?? fallback;
  const seed = fields['seed'] as number | undefined;
  const temperature = number('temperature', sampling.temperature);
  return {
    temperature: temperature < greedyBelow ? 0 : temperature,
    topP: number('top_p', sampling.topP),
    // -1 is vLLM's way to say off.
    topK: Math.max(0, number('top_k', sampling.topK)),
    minP: number('min_p', sampling.minP),
    typicalP: number('typical_p', 1),
    // The engine takes 64 bits without a sign; a negative seed keeps its own stream.
    seed: seed === undefined ? randomSeed : BigInt.asUintN(64, BigInt(seed)),
    repetitionPenalty: number('repetition_penalty', sampling.repetitionPenalty),
    presencePenalty: number('presence_penalty', 0),
    frequencyPenalty: number('frequency_penalty', 0),
  };
}
