// Text completions as the reference deployment writes them: in a whole answer every key is there, null where there is
// nothing; a chunk has what clients read, and what was asked for.

import type { TextDelta } from '../../request/text/text-stream.js';
import { addUsage, chunkEnd, usageBody, type AnswerHead, type AnswerShape } from './answer-shape.js';
import { completionLogprobs, placesOf, promptLogprobs, type TokenTexts } from './logprob-shapes.js';
import type { TextPlaces } from './text-places.js';
import { systemFingerprint } from '../api/version.js';

function choiceOf(index: number, delta: TextDelta, texts: TokenTexts): object {
  return {
    index,
    text: delta.content,
    logprobs: completionLogprobs(delta.logprobs, () => placesOf(texts), texts),
    finish_reason: delta.finish,
    stop_reason: delta.stopReason,
    prompt_token_ids: delta.promptTokenIds,
    token_ids: delta.tokenIds,
  };
}

function chunkChoice(index: number, delta: TextDelta, places: () => TextPlaces, texts: TokenTexts): object {
  const { content, promptTokenIds } = delta;
  return {
    index,
    text: content,
    logprobs: completionLogprobs(delta.logprobs, places, texts),
    ...chunkEnd(delta),
    ...(promptTokenIds === null ? {} : { prompt_token_ids: promptTokenIds }),
  };
}

function answer({ id, created, model }: AnswerHead, choices: readonly object[]): object {
  return { id, object: 'text_completion', created, model, choices, system_fingerprint: systemFingerprint };
}

export const completionShape: AnswerShape = {
  idPrefix: 'cmpl-',
  usageOnLastChunk: true,

  opening: () => null,

  chunk(head, index, delta, places, texts) {
    return answer(head, [chunkChoice(index, delta, places, texts)]);
  },

  emptyChunk: (head) => answer(head, []),

  whole(head, choices, texts) {
    const list = choices.map((choice, index) => {
      const shaped = choiceOf(index, choice, texts);
      const { promptScores: asked } = choice;
      if (asked === null) return shaped;
      return { ...shaped, prompt_logprobs: promptLogprobs(asked, texts) };
    });
    return { ...answer(head, list), usage: usageBody(addUsage(choices.map(({ usage }) => usage))) };
  },
};
