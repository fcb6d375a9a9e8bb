// What was read of the cluster, or why it was not. Rights differ from person to person: no check may fail for want of one.

import { errorText } from '../kube/error-text.js';
import { ApiError } from '../kube/client.js';
import type { Findings } from './finding.js';

export type Reading<T> =
  | { readonly state: 'read'; readonly value: T }
  | { readonly state: 'forbidden'; readonly message: string }
  | { readonly state: 'failed'; readonly message: string };

/** Reads; an answer of the API server that is an error becomes a part of the reading. */
export async function attempt<T>(read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { state: 'read', value: await read() };
  } catch (error) {
    const state = error instanceof ApiError && error.status === 403 ? 'forbidden' : 'failed';
    return { state, message: errorText(error) };
  }
}

/** The value; where there is none, null and a finding that says why. */
export function valueOf<T>(reading: Reading<T>, what: string, findings: Findings): T | null {
  if (reading.state === 'read') return reading.value;
  if (reading.state === 'forbidden') findings.warning(`${what}: you may not read this`, reading.message);
  else findings.warning(`${what}: could not be read`, reading.message);
  return null;
}
