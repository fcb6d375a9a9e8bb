// An answer to a condition's question, before it is dated.

import { failureKinds, type Failure, type FailureReason } from '@llmservice/crds';

export interface Answer {
  readonly status: 'True' | 'False' | 'Unknown';
  /** One stable word. */
  readonly reason: string;
  /** What it is, and for a "no" what a person can do. */
  readonly message: string;
}

export const yes = (reason: string, message: string): Answer => ({ status: 'True', reason, message });
export const no = (reason: string, message: string): Answer => ({ status: 'False', reason, message });
export const unknown = (reason: string, message: string): Answer => ({ status: 'Unknown', reason, message });
export const failed = (failure: Failure): Answer => no(failure.reason, withRemedy(failure));

/** What happened, then what to do. */
export function withRemedy({ reason, message }: { reason: FailureReason; message: string }): string {
  return sentences(message, failureKinds[reason].remedy);
}

/** Two texts as sentences, whether or not the first ends as one. */
export function sentences(first: string, second: string): string {
  return `${first.replace(/[.\s]*$/, '')}. ${second}`;
}
