// Whether a canary answers worse than the stable revision did in the same time: errors and refusals by their share of
// requests, times and lengths by their means.

import type { LlmServiceSpec } from '@llmservice/crds';
import type { Figures } from './figures.js';

export type Analysis = NonNullable<NonNullable<LlmServiceSpec['canary']>['analysis']>;

export type Verdict =
  /** Not asked, or not enough was seen. */
  | { readonly state: 'open' }
  | { readonly state: 'passed' }
  /** @property message each number beside the stable revision's, and the bound */
  | { readonly state: 'worse'; readonly message: string };

/** @param alone the stable revision gets no requests to compare with: errors and refusals alone are judged */
export function judgeCanary(rules: Analysis, canary: Figures, stable: Figures, alone: boolean): Verdict {
  const enough = (figures: Figures): boolean => requestsOf(figures) >= rules.minRequests;
  if (!enough(canary) || (!alone && !enough(stable))) return { state: 'open' };
  const complaints = [
    share('requests failed', canary, stable, failuresOf, rules.maxErrorPoints),
    share('requests were refused for a full queue', canary, stable, rejectionsOf, rules.maxRefusalPoints),
    ...(alone ? [] : compared(rules, canary, stable)),
  ].filter((complaint) => complaint !== null);
  return complaints.length === 0 ? { state: 'passed' } : { state: 'worse', message: complaints.join('; ') };
}

function compared(rules: Analysis, canary: Figures, stable: Figures): (string | null)[] {
  const { maxFirstTokenIncreasePercent, maxTokenTimeIncreasePercent, maxLengthChangePercent } = rules;
  const firstToken = ({ firstTokenSeconds, firstTokens }: Figures) => mean(firstTokenSeconds, firstTokens);
  const tokenTime = ({ tokenSeconds, tokenTimes }: Figures) => mean(tokenSeconds, tokenTimes);
  return [
    slower('the first token', firstToken(canary), firstToken(stable), maxFirstTokenIncreasePercent),
    slower('a further token', tokenTime(canary), tokenTime(stable), maxTokenTimeIncreasePercent),
    lengthChange(canary, stable, maxLengthChangePercent),
  ];
}

/** Embeddings and scores are answers without a generation, and a batch has generations without an answer. */
function requestsOf({ answers, generations }: Figures): number {
  return Math.max(answers, generations);
}

/** An answer of 5xx may be that of a generation which failed: neither is counted twice. */
function failuresOf({ failedAnswers, failedGenerations }: Figures): number {
  return Math.max(failedAnswers, failedGenerations);
}

function rejectionsOf({ rejections }: Figures): number {
  return rejections;
}

function share(
  what: string,
  canary: Figures,
  stable: Figures,
  count: (figures: Figures) => number,
  maxPoints: number,
): string | null {
  const percent = (figures: Figures): number =>
    requestsOf(figures) === 0 ? 0 : (100 * count(figures)) / requestsOf(figures);
  const [ours, theirs] = [percent(canary), percent(stable)];
  if (ours <= theirs + maxPoints) return null;
  return `${ours.toFixed(1)} % of its ${what}, of the stable revision’s ${theirs.toFixed(1)} % (at most ${maxPoints} points more)`;
}

function slower(what: string, ours: number | null, theirs: number | null, maxPercent: number): string | null {
  if (ours === null || theirs === null || ours <= theirs * (1 + maxPercent / 100)) return null;
  const ms = (seconds: number): string => `${(1000 * seconds).toFixed(1)} ms`;
  return `${what} takes ${ms(ours)}, of the stable revision ${ms(theirs)} (at most ${maxPercent} % more)`;
}

function lengthChange(canary: Figures, stable: Figures, maxPercent: number): string | null {
  const ours = mean(canary.answerTokens, canary.lengths);
  const theirs = mean(stable.answerTokens, stable.lengths);
  if (ours === null || theirs === null || theirs === 0) return null;
  const factor = 1 + maxPercent / 100;
  if (ours <= theirs * factor && ours >= theirs / factor) return null;
  return `its answers have ${ours.toFixed(1)} tokens, those of the stable revision ${theirs.toFixed(1)} (at most ${maxPercent} % more or less)`;
}

/** Null: nothing was counted. */
function mean(sum: number, count: number): number | null {
  return count === 0 ? null : sum / count;
}
