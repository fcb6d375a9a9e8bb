// The tokens of an answer that another engine generated, read as the text of one that was generated here.

import { emptyOutput } from '../../engine/output-queue.js';
import type { Steps } from '../../loop-turns.js';
import type { GeneratedChoice } from '../../request/parse/parse-derender.js';
import { joinDeltas } from '../../request/text/join-deltas.js';
import type { TextDelta, TextStream } from '../../request/text/text-stream.js';
import type { WholeChoice } from './answer-shape.js';

/** That are read at once: it takes less than some milliseconds. */
const stepTokens = 1024;

interface Reading {
  readonly text: TextStream;
  /** Ids that end an answer, and are no part of its text. */
  readonly stopIds: ReadonlySet<number>;
  readonly omitsReasoning: boolean;
}

type ReadChoice = Omit<WholeChoice, 'promptScores'>;

export function* readTokens(
  { tokenIds, finish, logprobs }: GeneratedChoice,
  { text, stopIds, omitsReasoning }: Reading,
): Steps<ReadChoice> {
  const last = tokenIds.at(-1);
  const stopToken = finish === 'stop' && last !== undefined && stopIds.has(last) ? last : null;
  const count = tokenIds.length - (stopToken === null ? 0 : 1);
  const deltas: TextDelta[] = [];
  for (let at = 0; deltas.at(-1)?.finish == null; at += stepTokens) {
    const end = Math.min(at + stepTokens, count);
    const output = {
      ...emptyOutput,
      tokens: tokenIds.slice(at, end),
      logprobs: logprobs?.slice(at, end) ?? null,
    };
    const ending = { finish: finish === 'stop' ? finish : 'length', stopToken } as const;
    const stopLogprobs = logprobs?.[count] ?? null;
    const delta = text.push(end < count ? output : { ...output, ...ending, stopLogprobs });
    deltas.push(omitsReasoning ? { ...delta, reasoning: '' } : delta);
    yield;
  }
  const whole = joinDeltas(deltas);
  return {
    ...whole,
    // Of an answer that nothing in it ended, as the engine says.
    finish: whole.finish === 'length' ? finish : whole.finish,
    meanLogprob: NaN,
    usage: {
      promptTokens: 0,
      cachedTokens: 0,
      completionTokens: text.completionTokens,
      reasoningTokens: text.reasoningTokens,
      acceptedDraftTokens: 0,
    },
    deltas,
  };
}
