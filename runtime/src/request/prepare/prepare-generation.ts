// From a parsed request to what the engine runs: template, tokens, limits, stop ids.

import type { GenerateRequest } from '../../engine/protocol.js';
import { harmonyGrammar } from '../../harmony/harmony-grammar.js';
import { longTextChars } from '../../tokens/tokenizer.js';
import { toolGrammar, type GrammarSource } from '../../tools/tool-grammar.js';
import { scoresPrompt } from '../fields/answer-details.js';
import { ApiError } from '../body/api-error.js';
import { channelPlace } from './channel-place.js';
import { encodeParts, encodeText, placeIn } from './encode-text.js';
import { requireGenerator } from './model-tasks.js';
import { requireDialect, type ModelTexts } from './model-texts.js';
import { isOpen, promptReasoning } from './prompt-reasoning.js';
import { renderParts } from './render-messages.js';
import type { ApiRequest } from '../parse/parse-request.js';
import type { MessagesSource, PromptSource } from '../parse/prompt-source.js';
import { schemaOfArguments, type RequestTools } from '../fields/read-tools.js';
import type { ChannelPlace } from '../text/channel-reader.js';
import { checkIds, tokenRules } from '../fields/token-rules.js';

export interface PreparedGeneration {
  readonly toRun: GenerateRequest;
  /** Whether the answer begins within the model's reasoning. */
  readonly inReasoning: boolean;
  /** Where an answer in channels begins; null: it has none. */
  readonly channels: ChannelPlace | null;
}

/**
 * @param signal ends the preparation
 * @throws ApiError task_not_supported, context_length_exceeded, chat_template_refused, tools_not_supported,
 *   invalid_request; the signal's reason
 */
export async function prepareGeneration(
  request: ApiRequest,
  source: PromptSource,
  id: string,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<PreparedGeneration> {
  requireGenerator(model);
  if (request.stopTokenIds.length > 0) checkIds('stop_token_ids', request.stopTokenIds, model.vocabSize);
  // What cannot be served is refused before the prompt is made.
  if (request.tools !== null && model.harmony === null) requireDialect(model);
  const param = fieldOf(request, source);
  const named = request.prompts.length > 1 ? param : 'the prompt';
  // What is cut may be of any length.
  // A prompt that is only echoed may fill the context.
  const needed = request.maxTokens === 0 ? 0 : 1;
  const maxPromptTokens = request.keptPromptTokens === null ? model.maxModelLen - needed : null;
  const whole = await encodePrompt(source, request.tools, model, param, { maxPromptTokens, named, signal });
  const prompt = keptOf(whole, request, model.maxModelLen - Math.max(needed, request.maxTokens ?? 0));
  if (prompt.length === 0) throw ApiError.of('invalid_request', `${named} has no tokens`, { param });
  const left = model.maxModelLen - prompt.length;
  if (left < needed || (request.maxTokens ?? 0) > left)
    throw tooLong(`${named} has ${String(prompt.length)} tokens`, request, left, model, param);
  const channels = channelsAfter(prompt, source, model);
  const grammar = grammarOf(request, model, channels);
  const reasoning = await promptReasoning(prompt, source, model, signal);
  // The engine's last row of a prompt gives a token, wanted or not; behind a full context it is none of the sequence.
  const maxTokens = Math.min(left, Math.max(1, request.maxTokens ?? left));
  // Anthropic's has no bound, and the engine counts in 32 bits: one of all that may come is none.
  const budget =
    reasoning !== null && request.thinkingBudget !== null && request.thinkingBudget < maxTokens
      ? { ...reasoning, tokens: request.thinkingBudget, blanks: model.tokenizer.blankIds }
      : null;
  const stopTokens = new Set([...(request.ignoreEos ? [] : model.eosIds), ...request.stopTokenIds]);
  const toRun: GenerateRequest = {
    id,
    prompt,
    maxTokens,
    pooling: 'none',
    stopTokens: Int32Array.from(stopTokens),
    sampling: request.sampling,
    rules:
      request.rules === null && budget === null
        ? null
        : await tokenRules(request.rules, budget, model, signal),
    adapter: null,
    promptLogprobs: request.sampling.topLogprobs !== null && scoresPrompt(request.details),
    grammar: grammar === null ? null : { ...grammar, after: reasoning },
    boundaries: messageEnds(prompt, model),
    cacheSalt: request.cacheSalt,
    fairnessKey: request.fairnessKey,
    priority: request.priority ?? 0,
    maxQueueMs: request.maxQueueMs,
  };
  return { toRun, inReasoning: isOpen(reasoning), channels };
}

/** What a prompt came as. */
function fieldOf({ prompts }: ApiRequest, source: PromptSource): string {
  if (source.kind !== 'messages') return placeIn('prompt', prompts, source);
  return source.field;
}

/** @param room beside the answer; where there is none, the request is refused by its max_tokens */
function keptOf(
  prompt: Int32Array,
  { keptPromptTokens: kept, keepsBeginning }: ApiRequest,
  room: number,
): Int32Array {
  if (kept === null) return prompt;
  const count = kept === 'context' ? Math.max(1, room) : kept;
  return keepsBeginning ? prompt.slice(0, count) : prompt.slice(-count);
}

/**
 * What the answer must be, calls of tools included.
 * @param channels where an answer in channels begins; null: it has none
 * @throws ApiError tools_not_supported
 */
export function grammarOf(
  { tools, format }: ApiRequest,
  model: ModelTexts,
  channels: ChannelPlace | null,
): GrammarSource | null {
  // What continues a message is that message's text alone.
  if (model.harmony !== null && channels !== null)
    return channels.at === 'text' ? format : harmonyGrammar(tools, model.harmony, format, schemaOfArguments);
  return tools === null ? format : toolGrammar(tools, requireDialect(model), format, schemaOfArguments);
}

/** Where the answer to a prompt begins, of a model that answers in channels what a chat template wrote; null: of any other. */
export function channelsAfter(
  prompt: Int32Array,
  source: PromptSource,
  { harmony, tokenizer }: ModelTexts,
): ChannelPlace | null {
  if (source.kind !== 'messages' || harmony === null) return null;
  return channelPlace(prompt, harmony, (id) => tokenizer.tokenText(id));
}

/** Chat templates end each message with one of the model's end tokens, or in channels with one of their own. */
function messageEnds(prompt: Int32Array, { eosIds, harmony }: ModelTexts): number[] {
  const ids = harmony === null ? eosIds : [...eosIds, harmony.end];
  const ends: number[] = [];
  prompt.forEach((token, index) => {
    if (ids.includes(token)) ends.push(index + 1);
  });
  return ends;
}

/** How a prompt is encoded. */
export interface PromptEncoding {
  /** A prompt that surely has more is refused unread; null: any length is of use. */
  readonly maxPromptTokens: number | null;
  /** What errors call the prompt. */
  readonly named: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * @throws ApiError chat_template_refused; context_length_exceeded and invalid_request, about the field `param`; the
 *   signal's reason
 */
export async function encodePrompt(
  source: PromptSource,
  tools: RequestTools | null,
  model: ModelTexts,
  param: string,
  how: PromptEncoding,
): Promise<Int32Array> {
  if (source.kind === 'messages') return encodeMessages(source, tools, model, param, how);
  if (source.kind === 'text') await requireFit(source.text, model, param, how);
  return encodeText(source, model, param, how.signal);
}

async function encodeMessages(
  source: MessagesSource,
  tools: RequestTools | null,
  model: ModelTexts,
  param: string,
  how: PromptEncoding,
): Promise<Int32Array> {
  const { plainText } = source;
  const isPlain = model.chatTemplate === null && plainText !== null;
  if (model.chatTemplate?.showsUsers === true && source.template === null)
    await requireUsersFit(source, model, param, how);
  const parts = isPlain ? [plainText] : await renderParts(source, model, tools?.given, how.signal);
  await requireFit(parts.join(''), model, param, how);
  return encodeParts(parts, isPlain, model, param, how.signal);
}

/** @throws ApiError context_length_exceeded: what users say has more tokens than may be, whatever the template adds */
async function requireUsersFit(
  { messages }: MessagesSource,
  { tokenizer, maxModelLen }: ModelTexts,
  param: string,
  { maxPromptTokens, named, signal }: PromptEncoding,
): Promise<void> {
  // Templates may trim. A first character may end a token that began before it.
  const said = messages.flatMap(({ role, content }) => (role === 'user' ? content.trim() : []));
  const length = said.reduce((sum, text) => sum + text.length, 0);
  if (maxPromptTokens === null || length < longTextChars) return;
  const ofEach = await tokenizer.fewestTokens(said, signal);
  const fewest = ofEach.reduce((sum, tokens) => sum + Math.max(0, tokens - 1), 0);
  if (fewest > maxPromptTokens)
    throw contextExceeded(`${named} has at least ${String(fewest)} tokens`, maxModelLen, param);
}

/** @throws ApiError context_length_exceeded: a long text has more tokens than may be, whatever they are */
export async function requireFit(
  text: string,
  { tokenizer, maxModelLen }: ModelTexts,
  param: string,
  { maxPromptTokens, named, signal }: PromptEncoding,
): Promise<void> {
  // Of shorter ones the number is soon known.
  if (maxPromptTokens === null || text.length < longTextChars) return;
  const [fewest = 0] = await tokenizer.fewestTokens([text], signal);
  if (fewest <= maxPromptTokens) return;
  throw contextExceeded(`${named} has at least ${String(fewest)} tokens`, maxModelLen, param);
}

function contextExceeded(problem: string, maxModelLen: number, param: string): ApiError {
  return ApiError.of(
    'context_length_exceeded',
    `${problem}, but the context is ${String(maxModelLen)} tokens, prompt and answer together`,
    { param },
  );
}

function tooLong(
  /** How long the prompt is, in words. */
  problem: string,
  { maxTokens, maxTokensField }: ApiRequest,
  left: number,
  { maxModelLen }: ModelTexts,
  param: string,
): ApiError {
  const asked = left < 1 ? problem : `${problem} and ${maxTokensField} asks for ${String(maxTokens)} more`;
  return contextExceeded(asked, maxModelLen, left < 1 ? param : maxTokensField);
}
