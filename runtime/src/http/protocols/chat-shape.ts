// Chat completions as the reference deployment writes them: every key there, null where there is nothing.

import { silentDelta, type TextDelta } from '../../request/text/text-stream.js';
import type { ToolCallDelta } from '../../tools/tool.js';
import { wholeCalls } from '../../tools/whole-calls.js';
import { addUsage, usageBody, type AnswerHead, type AnswerShape } from './answer-shape.js';
import { chatLogprobs, promptLogprobs, type TokenTexts } from './logprob-shapes.js';
import { systemFingerprint } from '../api/version.js';
import type { Usage } from '../generation/generation.js';

/** Both names of the reasoning text are in use among clients. */
function messageOf(delta: TextDelta, content: string | null, toolCalls: readonly object[]): object {
  const reasoning = delta.reasoning === '' ? null : delta.reasoning;
  return { role: 'assistant', content, reasoning, reasoning_content: reasoning, tool_calls: toolCalls };
}

/** A call's first chunk has its name, the others pieces of its arguments. */
function callChunk({ index, start, arguments: fragment }: ToolCallDelta): object {
  if (start === null) return { index, function: { arguments: fragment } };
  return { index, id: start.id, type: 'function', function: { name: start.name, arguments: fragment } };
}

function callsOf({ toolCalls }: TextDelta): object[] {
  return wholeCalls(toolCalls).map(({ id, ...called }) => ({ id, type: 'function', function: called }));
}

function choiceEnd(delta: TextDelta, texts: TokenTexts): object {
  return {
    logprobs: chatLogprobs(delta.logprobs, texts),
    finish_reason: delta.finish,
    stop_reason: delta.stopReason,
    token_ids: delta.tokenIds,
  };
}

function answer(
  object: string,
  head: AnswerHead,
  choices: readonly object[],
  usage: object | null,
  promptTokenIds: readonly number[] | null = null,
): object {
  const { id, created, model } = head;
  return {
    id,
    object,
    created,
    model,
    choices,
    usage,
    prompt_token_ids: promptTokenIds,
    system_fingerprint: systemFingerprint,
  };
}

function chunkOf(
  head: AnswerHead,
  index: number,
  message: object,
  delta: TextDelta,
  usage: Usage | null,
  texts: TokenTexts,
): object {
  const choice = { index, delta: message, ...choiceEnd(delta, texts) };
  const usageField = usage === null ? null : usageBody(usage);
  return answer('chat.completion.chunk', head, [choice], usageField, delta.promptTokenIds);
}

export const chatShape: AnswerShape = {
  idPrefix: 'chatcmpl-',
  usageOnLastChunk: false,

  // OpenAI's and vLLM's streams begin so, and OpenAI's own client counts on it: of the log probabilities in a choice's
  // first chunk it makes two of each.
  opening(head, index, { tokenIds, promptTokenIds }, usage, texts) {
    const first = { ...silentDelta, tokenIds: tokenIds === null ? null : [], promptTokenIds };
    return chunkOf(head, index, messageOf(first, '', []), first, usage, texts);
  },

  chunk(head, index, delta, _places, usage, texts) {
    // While the model reasons or calls there is no content; otherwise it is a string, empty at the least.
    const isOther = delta.reasoning !== '' || delta.toolCalls.length > 0;
    const content = delta.content === '' && isOther ? null : delta.content;
    const message = messageOf(delta, content, delta.toolCalls.map(callChunk));
    // Clients join the strings of a choice's chunks, the role too: the opening has it.
    return chunkOf(head, index, { ...message, role: null }, delta, usage, texts);
  },

  usageChunk(head, usage) {
    return answer('chat.completion.chunk', head, [], usageBody(usage));
  },

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
      ...choiceEnd(choice, texts),
    }));
    const usage = usageBody(addUsage(choices.map(({ usage }) => usage)));
    const first = choices[0];
    const whole = answer('chat.completion', head, list, usage, first?.promptTokenIds ?? null);
    const asked = first?.promptScores ?? null;
    if (asked === null) return whole;
    return { ...whole, prompt_logprobs: promptLogprobs(asked.scores, asked.alternatives, texts) };
  },
};
