// A failure as a container's termination message: the runtime writes it, the operator reads it.

import { failureKinds, type Failure } from './failures.js';
import { terminationMessageMaxBytes } from './names.js';

/**
 * Encodes a failure as a termination message: JSON of at most what Kubernetes keeps. What is too long loses the end
 * of its message, by whole characters, and its detail when that alone is too long.
 */
export function formatTerminationMessage(failure: Failure): string {
  const { reason, detail } = failure;
  const characters = Array.from(failure.message);
  const encode = (length: number): string =>
    JSON.stringify({ ...failure, message: characters.slice(0, length).join('') });
  const fits = (length: number): boolean => Buffer.byteLength(encode(length)) <= terminationMessageMaxBytes;
  if (detail !== undefined && !fits(0)) return formatTerminationMessage({ reason, message: failure.message });

  let kept = 0;
  let tooLong = Math.min(characters.length, terminationMessageMaxBytes) + 1;
  while (tooLong - kept > 1) {
    const middle = (kept + tooLong) >> 1;
    if (fits(middle)) kept = middle;
    else tooLong = middle;
  }
  return encode(kept);
}

/** Reads a termination message; anything that is not one of ours is null. */
export function parseTerminationMessage(text: string | undefined): Failure | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (typeof value !== 'object' || value === null) return null;
    const { reason, message, detail } = value as Partial<Failure>;
    if (typeof reason !== 'string' || !Object.hasOwn(failureKinds, reason)) return null;
    if (typeof message !== 'string') return null;
    return { reason, message, ...(detail === undefined ? {} : { detail }) };
  } catch {
    return null;
  }
}
