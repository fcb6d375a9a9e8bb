// Text completions as the reference deployment writes them: every key there, null where there is nothing.

import type { TextDelta } from '../../request/text/text-stream.js';
import { addUsage, usageBody, type AnswerHead, type AnswerShape } from './answer-shape.js';
import { completionLogprobs, placesOf, promptLogprobs, type TokenTexts } from './logprob-shapes.js';
import type { TextPlaces } from './text-places.js';
import { systemFingerprint } from '../api/version.js';

function choiceOf(index: number, delta: TextDelta, places: TextPlaces, texts: TokenTexts): object {
  return {
    index,
    text: delta.content,
    logprobs: completionLogprobs(delta.logprobs, places, texts),
    finish_reason: delta.finish,
    stop_reason: delta.stopReason,
    prompt_token_ids: delta.promptTokenIds,
    token_ids: delta.tokenIds,
  };
}

function answer(head: AnswerHead, choices: readonly object[], usage: object | null): object {
  const { id, created, model } = head;
  return {
    id,
    object: 'text_completion',
    created,
    model,
    choices,
    usage,
    system_fingerprint: systemFingerprint,
  };
}

export const completionShape: AnswerShape = {
  idPrefix: 'cmpl-',
  usageOnLastChunk: true,

  opening: () => null,

  chunk(head, index, delta, places, usage, texts) {
    return answer(head, [choiceOf(index, delta, places, texts)], usage === null ? null : usageBody(usage));
  },

  usageChunk(head, usage) {
    return answer(head, [], usageBody(usage));
  },

  whole(head, choices, texts) {
    const list = choices.map((choice, index) => {
      const shaped = choiceOf(index, choice, placesOf(texts), texts);
      const { promptScores: asked } = choice;
      if (asked === null) return shaped;
      return { ...shaped, prompt_logprobs: promptLogprobs(asked.scores, asked.alternatives, texts) };
    });
    return answer(head, list, usageBody(addUsage(choices.map(({ usage }) => usage))));
  },
};
