// Chat completions as the reference deployment writes them: every key there, null where there is nothing.

import type { TextDelta } from '../request/text-stream.js';
import { addUsage, usageBody, type AnswerHead, type AnswerShape } from './answer-shape.js';
import { chatLogprobs, promptLogprobs, type TokenTexts } from './logprob-shapes.js';
import { systemFingerprint } from './version.js';

/** Both names of the reasoning text are in use among clients. */
function messageOf(delta: TextDelta, content: string | null): object {
  const reasoning = delta.reasoning === '' ? null : delta.reasoning;
  return { role: 'assistant', content, reasoning, reasoning_content: reasoning, tool_calls: [] };
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

export const chatShape: AnswerShape = {
  idPrefix: 'chatcmpl-',
  usageOnLastChunk: false,

  chunk(head, index, delta, _position, usage, texts) {
    // While the model reasons there is no content; otherwise it is a string, empty at the least.
    const content = delta.content === '' && delta.reasoning !== '' ? null : delta.content;
    const choice = { index, delta: messageOf(delta, content), ...choiceEnd(delta, texts) };
    const told = usage === null ? null : usageBody(usage);
    return answer('chat.completion.chunk', head, [choice], told, delta.promptTokenIds);
  },

  usageChunk(head, usage) {
    return answer('chat.completion.chunk', head, [], usageBody(usage));
  },

  whole(head, choices, texts) {
    const list = choices.map((choice, index) => ({
      index,
      message: { ...messageOf(choice, choice.content), refusal: null },
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
