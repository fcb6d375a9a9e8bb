// A prompt as its answers need it: what the engine is to run, and how their tokens are read as text.

import type { GenerateRequest } from '../../engine/protocol.js';
import type { RequestAccount } from '../../keys/request-account.js';
import { ApiError } from '../../request/body/api-error.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import type { PromptSource } from '../../request/parse/prompt-source.js';
import { prepareGeneration } from '../../request/prepare/prepare-generation.js';
import { echoOfIds, echoOfText, type PromptEcho } from '../../request/text/prompt-echo.js';
import type { ChannelOptions, ChannelPlace } from '../../request/text/channel-reader.js';
import { TextStream } from '../../request/text/text-stream.js';
import type { TextStreamOptions } from '../../request/text/text-stream-options.js';
import { ToolReader } from '../../tools/tool-reader.js';
import type { ServedModel } from '../replica/served-model.js';
import { newId } from '../replica/server-parts.js';
import { PromptShare } from './prompt-share.js';

/** A prompt of a request. */
export interface AskedGeneration {
  readonly id: string;
  readonly request: ApiRequest;
  readonly source: PromptSource;
  /** Where the request stands in a body of several; null: it is the body. */
  readonly place: string | null;
}

/** What the answers to one prompt have in common. */
export interface Prompt {
  readonly request: ApiRequest;
  readonly prepared: GenerateRequest;
  /** Null: the prompt has one answer, and its scores were not asked for. */
  readonly share: PromptShare | null;
  /** Null: not asked for. */
  readonly echo: PromptEcho | null;
  readonly newText: () => TextStream;
}

interface PromptContext {
  readonly model: ServedModel;
  readonly account: RequestAccount;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

/** @throws ApiError whatever is wrong with it */
export async function preparePrompt(asked: AskedGeneration, context: PromptContext): Promise<Prompt> {
  const { place } = asked;
  try {
    return await prepare(asked, context);
  } catch (error) {
    throw place !== null && error instanceof ApiError ? error.within(place) : error;
  }
}

async function prepare(
  { id, request, source }: AskedGeneration,
  { model, account, signal }: PromptContext,
): Promise<Prompt> {
  const { toRun, inReasoning, channels } = await prepareGeneration(request, source, id, model, signal);
  const prepared = account.share(toRun, request.priority);
  return {
    request,
    prepared,
    share: request.choices.generated > 1 || prepared.promptLogprobs ? new PromptShare() : null,
    echo: request.details.echo ? echoOf(source, prepared.prompt, request, model) : null,
    newText: textStreamsOf(request, source, model, {
      inReasoning,
      callsInReasoning: prepared.grammar === null,
      channels,
    }),
  };
}

/** What reads the tokens of an answer to such a prompt as text. */
export function textStreamsOf(
  request: ApiRequest,
  source: PromptSource,
  model: ServedModel,
  {
    channels,
    ...place
  }: Pick<TextStreamOptions, 'inReasoning' | 'callsInReasoning'> & { readonly channels: ChannelPlace | null },
): () => TextStream {
  const { details, rules } = request;
  const options: Omit<TextStreamOptions, 'tools' | 'channels'> = {
    newDetokenizer: () => model.tokenizer.detokenizer({ skipSpecialTokens: request.skipSpecialTokens }),
    textOf: (id) => model.tokenizer.tokenText(id),
    stopStrings: request.stopStrings,
    stopPatterns: request.stopPatterns,
    includeStopString: request.includeStopString,
    stopTokenIds: request.stopTokenIds,
    eosIds: model.eosIds,
    minTokens: rules?.minTokens ?? 0,
    repetition: request.repetition,
    logprobs: (rules?.reportedIds.length ?? 0) > 0 ? 'named' : details.logprobs,
    reportsIds: details.tokenIds,
    // Reasoning is separated where a chat template wrote the prompt.
    think: source.kind === 'messages' ? model.think : null,
    ...place,
  };
  return () =>
    new TextStream({
      ...options,
      tools: toolReaderOf(request, model),
      channels: channelsOf(request, model, channels),
    });
}

/** The client's own text where it gave one and all of it was taken. */
function echoOf(
  source: PromptSource,
  ids: Int32Array,
  { keptPromptTokens, skipSpecialTokens }: ApiRequest,
  { tokenizer }: ServedModel,
): PromptEcho {
  return source.kind === 'text' && keptPromptTokens === null
    ? echoOfText(source.text, ids, tokenizer)
    : echoOfIds(ids, skipSpecialTokens, tokenizer);
}

function toolReaderOf(
  { tools, skipSpecialTokens }: ApiRequest,
  { toolDialect }: ServedModel,
): ToolReader | null {
  if (tools === null || toolDialect === null) return null;
  const newCallId = (): string => (toolDialect.shortIds ? newId('').slice(0, 9) : newId('call_'));
  return new ToolReader({ dialect: toolDialect, use: tools, newCallId, skipSpecialTokens });
}

/** Of what answers a chat template, of a model whose answers have channels. */
function channelsOf(
  { tools }: ApiRequest,
  { harmony }: ServedModel,
  place: ChannelPlace | null,
): ChannelOptions | null {
  if (harmony === null || place === null) return null;
  return { tokens: harmony, place, use: tools, newCallId: () => newId('call_') };
}
