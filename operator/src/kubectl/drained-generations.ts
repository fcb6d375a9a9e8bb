// How the requests of a pod that ends came to their end, counted by its own log. Pure.

import { parseLogLine } from './log-line.js';

export interface DrainedGenerations {
  /** Answered whole. */
  readonly finished: number;
  /** Ended by the drain's time limit. */
  readonly cut: number;
  /** Whose clients went away. */
  readonly left: number;
  /** Ended by another error. */
  readonly failed: number;
  /** Turned away since they came during the drain. */
  readonly refused: number;
}

export const none: DrainedGenerations = { finished: 0, cut: 0, left: 0, failed: 0, refused: 0 };

/** With one more line of the log. */
export function counting(so: DrainedGenerations, line: string): DrainedGenerations {
  const fields = parseLogLine(line);
  const end = fields === null ? null : endOf(fields);
  return end === null ? so : { ...so, [end]: so[end] + 1 };
}

function endOf({
  message,
  errorCode,
  finishReasons,
}: Readonly<Record<string, unknown>>): keyof DrainedGenerations | null {
  if (message === 'request refused') return errorCode === 'draining' ? 'refused' : null;
  if (message !== 'request finished') return null;
  if (errorCode === 'draining') return 'cut';
  if (typeof errorCode === 'string') return 'failed';
  return Array.isArray(finishReasons) && finishReasons.includes('abort') ? 'left' : 'finished';
}

export function describeGenerations({ finished, cut, left, failed, refused }: DrainedGenerations): string {
  const parts = [
    `${finished} finished`,
    ...(cut === 0 ? [] : [`${cut} cut off at the time limit (spec.rollout.drainTimeoutSeconds)`]),
    ...(left === 0 ? [] : [`${left} left by their clients`]),
    ...(failed === 0 ? [] : [`${failed} ended by an error`]),
    ...(refused === 0 ? [] : [`${refused} refused, which clients send again`]),
  ];
  return parts.join(', ');
}
