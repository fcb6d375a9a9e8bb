// The answers to one prompt that another engine generated, read as those of a generation here: what reasoning and calls are
// depends on the request, and on how its prompt ends.

import type { LoopTurns } from '../../loop-turns.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import type { GeneratedAnswer } from '../../request/parse/parse-derender.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import type { PromptSource } from '../../request/parse/prompt-source.js';
import { channelsAfter, grammarOf, prepareGeneration } from '../../request/prepare/prepare-generation.js';
import { isOpen, promptReasoning } from '../../request/prepare/prompt-reasoning.js';
import type { ChannelPlace } from '../../request/text/channel-reader.js';
import type { WholeChoice } from '../protocols/answer-shape.js';
import type { ServedModel } from '../replica/served-model.js';
import { newId } from '../replica/server-parts.js';
import { textStreamsOf } from '../generation/prompt.js';
import { readTokens } from '../protocols/read-tokens.js';

export interface DerenderWork {
  readonly model: ServedModel;
  readonly signal: AbortSignal;
  readonly turns: LoopTurns;
  /** Gets how many tokens were read or rendered. */
  readonly spend: (tokens: number) => void;
}

interface Asked {
  readonly request: ApiRequest;
  /** The prompt that was answered; undefined: the request has fewer. */
  readonly source: PromptSource | undefined;
}

/** @throws ApiError tools_not_supported; what rendering throws, where the prompt is not known; the signal's reason */
export async function derenderAnswer(
  { choices, promptTokens, promptIds, promptLogprobs }: GeneratedAnswer,
  asked: Asked,
  work: DerenderWork,
): Promise<readonly WholeChoice[]> {
  const { model, signal } = work;
  const { request } = asked;
  const prompt = await promptOf(asked, promptIds, work);
  const stopIds = new Set([...(request.ignoreEos ? [] : model.eosIds), ...request.stopTokenIds]);
  const { omitsReasoning, tokenIds: reportsIds } = request.details;
  const read: WholeChoice[] = [];
  for (const choice of choices) {
    const reported = choice.logprobs === null ? request : withLogprobs(request);
    const text = textStreamsOf(reported, prompt.source, model, prompt)();
    const whole = await work.turns.run(() => readTokens(choice, { text, stopIds, omitsReasoning }), signal);
    work.spend(choice.tokenIds.length);
    const isFirst = read.length === 0;
    read.push({
      ...whole,
      promptTokenIds: reportsIds ? prompt.ids : null,
      promptScores: promptLogprobs === null ? null : { written: promptLogprobs },
      usage: { ...whole.usage, promptTokens: isFirst ? promptTokens : 0 },
    });
  }
  return read;
}

/** As many alternatives as the engine reported, where the request does not say. */
function withLogprobs(request: ApiRequest): ApiRequest {
  const { details } = request;
  return { ...request, details: { ...details, logprobs: details.logprobs ?? Infinity } };
}

interface AnsweredPrompt {
  readonly source: PromptSource;
  /** Null: the answer needs nothing of them. */
  readonly ids: readonly number[] | null;
  readonly inReasoning: boolean;
  readonly callsInReasoning: boolean;
  readonly channels: ChannelPlace | null;
}

/** What was answered: by the ids that the engine was given, or else by what the request renders to. */
async function promptOf(
  { request, source }: Asked,
  given: readonly number[] | null,
  work: DerenderWork,
): Promise<AnsweredPrompt> {
  const { model, signal } = work;
  if (source === undefined)
    throw invalidRequest([violationAt('completion_request.prompt', 'has fewer prompts than were answered')]);
  const hasReasoning = model.think !== null || model.harmony !== null;
  const needed = request.details.tokenIds || (source.kind === 'messages' && hasReasoning);
  if (given === null && !needed) {
    const callsInReasoning = grammarOf(request, model, null) === null;
    return { source, ids: null, inReasoning: false, callsInReasoning, channels: null };
  }
  const prompt = given === null ? await rendered(request, source, work) : Int32Array.from(given);
  const channels = channelsAfter(prompt, source, model);
  const callsInReasoning = grammarOf(request, model, channels) === null;
  const reasoning = await promptReasoning(prompt, source, model, signal);
  return { source, ids: [...prompt], inReasoning: isOpen(reasoning), callsInReasoning, channels };
}

async function rendered(
  request: ApiRequest,
  source: PromptSource,
  { model, signal, spend }: DerenderWork,
): Promise<Int32Array> {
  const { toRun } = await prepareGeneration(request, source, newId('text-'), model, signal);
  spend(toRun.prompt.length);
  return toRun.prompt;
}
