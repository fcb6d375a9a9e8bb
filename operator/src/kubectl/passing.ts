// Which failures of a request are over by themselves: the API server was away, or had too much to do.

import { ApiError } from '../kube/client.js';
import { ClusterError } from '../kube/connect.js';

/** What is asked again may be answered. What the API server refuses, and what is not there, it is not. */
export function isPassing(error: unknown): error is ClusterError {
  if (!(error instanceof ClusterError) || error.cause === undefined) return false;
  return !(error.cause instanceof ApiError) || error.cause.status === 429 || error.cause.status >= 500;
}
