// An answer to a condition's question, before it is dated.

import { failureKinds, type Failure, type FailureReason } from '@llmservice/crds';

export interface Answer {
  readonly status: 'True' | 'False' | 'Unknown';
  /** One stable word. */
  readonly reason: string;
  /** What it is, and for a "no" what a person can do. */
  readonly message: string;
}

/** Texts of others are in it, of any length; the API server refuses a status with one of more than 32,768. */
const maxCharacters = 8192;

export const yes = (reason: string, message: string): Answer => answerOf('True', reason, message);
export const no = (reason: string, message: string): Answer => answerOf('False', reason, message);
export const unknown = (reason: string, message: string): Answer => answerOf('Unknown', reason, message);
export const failed = (failure: Failure): Answer => no(failure.reason, withRemedy(failure));

/** What happened, then what to do. */
export function withRemedy({ reason, message }: { reason: FailureReason; message: string }): string {
  return sentences(message, failureKinds[reason].remedy);
}

/** Two texts as sentences, whether or not the first ends as one. */
export function sentences(first: string, second: string): string {
  let end = first.length;
  while (end > 0 && /[.\s]/.test(first.charAt(end - 1))) end -= 1;
  return `${first.slice(0, end)}. ${second}`;
}

function answerOf(status: Answer['status'], reason: string, message: string): Answer {
  const short = message.length > maxCharacters ? `${message.slice(0, maxCharacters)}…` : message;
  return { status, reason, message: short };
}
