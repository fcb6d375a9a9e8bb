// How far an engine is from a golden's log probabilities and tokens, and where: all of it, not only the first fault.

import type { Generated, Scores } from '../golden/engine-driver.js';
import { type Bar, clearSteps, type Golden } from '../golden/golden-values.js';

interface Pair {
  readonly got: number;
  readonly wanted: number;
}

interface ScoreDifferences {
  readonly mean: number;
  readonly largest: number;
  /** Where the largest is: the first position is that of the first token's successor. */
  readonly position: number;
  readonly logprob: Pair;
  readonly likeliest: Pair;
  /** Positions that are as far off as the bar, or further. */
  readonly beyond: number;
  /** Positions with another likeliest token than the reference's, where that is clear. */
  readonly otherTokens: number;
}

interface GreedyDifferences {
  /** Steps before the first close call, over all prompts. */
  readonly steps: number;
  /** Of the logprobs of these. */
  readonly largest: number;
  /** Where each prompt's tokens part from the reference's, close calls too. */
  readonly parts: readonly { readonly prompt: number; readonly step: number; readonly margin: number }[];
}

export function scoreDifferences(
  got: Scores,
  { teacherForced: wanted }: Golden,
  { allowed, close }: Pick<Bar, 'allowed' | 'close'>,
): ScoreDifferences {
  const off = wanted.logprobs.map((value, i) => distance(value, got.logprobs[i]));
  const largest = Math.max(...off);
  const position = off.indexOf(largest);
  const others = wanted.argmax.filter((token, i) => wanted.margins[i]! >= close && token !== got.best[i]);
  return {
    mean: off.reduce((sum, value) => sum + value, 0) / off.length,
    largest,
    position,
    logprob: { got: got.logprobs[position]!, wanted: wanted.logprobs[position]! },
    likeliest: { got: got.best[position]!, wanted: wanted.argmax[position]! },
    beyond: off.filter((value) => value >= allowed).length,
    otherTokens: others.length,
  };
}

export function greedyDifferences(
  got: readonly Generated[],
  { greedy }: Golden,
  { close }: Pick<Bar, 'close'>,
): GreedyDifferences {
  const counts = greedy.map((wanted) => clearSteps(wanted, close));
  const off = greedy.flatMap(({ logprobs }, prompt) =>
    logprobs.slice(0, counts[prompt]).map((value, step) => distance(value, got[prompt]?.logprobs[step])),
  );
  const parts = greedy.flatMap(({ tokens, margins }, prompt) => {
    const step = tokens.findIndex((token, i) => token !== got[prompt]?.tokens[i]);
    return step === -1 ? [] : [{ prompt, step, margin: margins[step]! }];
  });
  return { steps: counts.reduce((sum, count) => sum + count, 0), largest: Math.max(0, ...off), parts };
}

/** What is missing or no number is infinitely far. */
function distance(wanted: number, got: number | undefined): number {
  const off = Math.abs(wanted - (got ?? NaN));
  return Number.isNaN(off) ? Infinity : off;
}

export function describeScores(differences: ScoreDifferences): string {
  const { mean, largest, position, logprob, likeliest, beyond, otherTokens } = differences;
  return (
    `scores ${mean.toFixed(4)} off on average, ${largest.toFixed(3)} at position ${position} ` +
    `(${logprob.got.toFixed(3)} for ${logprob.wanted.toFixed(3)}, likeliest ${likeliest.got} for ${likeliest.wanted}), ` +
    `${beyond} beyond the bar, ${otherTokens} other clear tokens`
  );
}

export function describeGreedy({ steps, largest, parts }: GreedyDifferences): string {
  const where = parts.map(({ prompt, step, margin }) => `${prompt}:${step} (margin ${margin.toFixed(2)})`);
  const parting = where.length === 0 ? 'no prompt parts' : `prompts part at step ${where.join(', ')}`;
  return `greedy ${largest.toFixed(3)} off over ${steps} clear steps, ${parting}`;
}
