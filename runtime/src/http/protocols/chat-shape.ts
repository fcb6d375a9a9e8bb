// Chat completions as the reference deployment writes them: in a whole answer every key but `tool_calls` is there, null
// where there is nothing; a chunk has what clients read, and what was asked for.

import { silentDelta, type TextDelta } from '../../request/text/text-stream.js';
import type { ToolCallDelta } from '../../tools/tool.js';
import { wholeCalls } from '../../tools/whole-calls.js';
import { addUsage, chunkEnd, usageBody, type AnswerHead, type AnswerShape } from './answer-shape.js';
import { promptLogprobs, scoredTokens, type TokenTexts } from './logprob-shapes.js';
import { systemFingerprint } from '../api/version.js';

/** Both names of the reasoning text are in use among clients. */
function messageOf(delta: TextDelta, content: string | null, toolCalls: readonly object[]): object {
  const reasoning = delta.reasoning === '' ? null : delta.reasoning;
  const message = { role: 'assistant', content, reasoning, reasoning_content: reasoning };
  // As OpenAI's and vLLM's: clients send the message back, and OpenAI refuses an empty list.
  return toolCalls.length === 0 ? message : { ...message, tool_calls: toolCalls };
}

/** A call's first chunk has its name, the others pieces of its arguments. */
function callChunk({ index, start, ...piece }: ToolCallDelta): object {
  if (start === null) return { index, ...calledOf({}, piece) };
  const { id, name } = start;
  const type = piece.isInput === true ? 'custom' : 'function';
  return { index, id, type, ...calledOf({ name }, piece) };
}

function callsOf({ toolCalls }: TextDelta): object[] {
  return wholeCalls(toolCalls).map(({ id, name, ...whole }) => ({
    id,
    type: whole.isInput === true ? 'custom' : 'function',
    ...calledOf({ name }, whole),
  }));
}

const calledOf = (
  name: object,
  { isInput, arguments: text }: Pick<ToolCallDelta, 'arguments' | 'isInput'>,
) => (isInput === true ? { custom: { ...name, input: text } } : { function: { ...name, arguments: text } });

function answer(object: string, { id, created, model }: AnswerHead, choices: readonly object[]): object {
  return { id, object, created, model, choices, system_fingerprint: systemFingerprint };
}

const logprobsOf = ({ logprobs }: TextDelta, texts: TokenTexts): object | null =>
  logprobs.length === 0 ? null : { content: scoredTokens(logprobs, texts) };

function chunkOf(
  head: AnswerHead,
  index: number,
  message: object,
  delta: TextDelta,
  texts: TokenTexts,
): object {
  const logprobs = logprobsOf(delta, texts);
  const chunk = answer('chat.completion.chunk', head, [
    { index, delta: message, logprobs, ...chunkEnd(delta) },
  ]);
  const { promptTokenIds } = delta;
  return promptTokenIds === null ? chunk : { ...chunk, prompt_token_ids: promptTokenIds };
}

/** Clients join the strings of a choice's chunks, so each is said once. The last chunk has a content that is empty. */
function pieceOf({ content, reasoning, toolCalls }: TextDelta): object {
  const isOther = reasoning !== '' || toolCalls.length > 0;
  return {
    ...(content === '' && isOther ? {} : { content }),
    ...(reasoning === '' ? {} : { reasoning, reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(callChunk) }),
  };
}

export const chatShape: AnswerShape = {
  idPrefix: 'chatcmpl-',
  usageOnLastChunk: false,

  // OpenAI's and vLLM's streams begin so, and OpenAI's own client counts on it: of the log probabilities in a choice's
  // first chunk it makes two of each.
  opening(head, index, { tokenIds, promptTokenIds }, texts) {
    const first = { ...silentDelta, tokenIds: tokenIds === null ? null : [], promptTokenIds };
    return chunkOf(head, index, { role: 'assistant', content: '' }, first, texts);
  },

  chunk(head, index, delta, _places, texts) {
    return chunkOf(head, index, pieceOf(delta), delta, texts);
  },

  emptyChunk: (head) => answer('chat.completion.chunk', head, []),

  whole(head, choices, texts) {
    const list = choices.map((choice, index) => ({
      index,
      message: {
        ...messageOf(
          choice,
          choice.content === '' && choice.toolCalls.length > 0 ? null : choice.content,
          callsOf(choice),
        ),
        refusal: null,
      },
      logprobs: logprobsOf(choice, texts),
      finish_reason: choice.finish,
      stop_reason: choice.stopReason,
      token_ids: choice.tokenIds,
    }));
    const first = choices[0];
    const whole = {
      ...answer('chat.completion', head, list),
      usage: usageBody(addUsage(choices.map(({ usage }) => usage))),
      prompt_token_ids: first?.promptTokenIds ?? null,
    };
    const asked = first?.promptScores ?? null;
    if (asked === null) return whole;
    return { ...whole, prompt_logprobs: promptLogprobs(asked, texts) };
  },
};
