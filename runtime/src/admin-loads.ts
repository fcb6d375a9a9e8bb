// What administrators may load, and why a load of theirs was broken off.

import { FailureError } from '@llmservice/crds';
import type { Lifecycle } from './http/replica/lifecycle.js';
import { ApiError } from './request/body/api-error.js';
import { allowedUri } from './weights/allowed-uris.js';

/**
 * @param param of the request that names the URI
 * @param configured URIs that the settings name, which are always allowed
 * @param allowed what else is, with all that is below
 * @throws ApiError model_not_allowed; FailureError as `allowedUri`
 */
export async function requireAllowed(
  param: string,
  uri: string,
  configured: readonly string[],
  allowed: readonly string[],
): Promise<string> {
  if (configured.includes(uri)) return uri;
  const found = await allowedUri(uri, allowed);
  if (found !== null) return found;
  const those = [...configured, ...allowed.map((each) => `what is below ${each}`)].join(', ');
  throw ApiError.of(
    'model_not_allowed',
    `an administrator may load ${those === '' ? 'nothing' : those}; to allow others, set administration.allowedUris (--admin-allowed-uris)`,
    { param },
  );
}

/** Reasons of an adapter that is at fault itself. */
const ofAdapter = ['InvalidEngineConfig', 'CheckpointCorrupt', 'CheckpointIncomplete', 'ModelNotFound'];

/** A failure whose cause is the adapter that was asked for, as a refusal of the request; others as they are. */
export function asRefusedAdapter(error: unknown): never {
  if (!(error instanceof FailureError) || !ofAdapter.includes(error.failure.reason)) throw error;
  throw ApiError.of('invalid_request', error.message, { param: 'lora_path' });
}

/** Why a load that somebody asked for was broken off. */
export function loadEnded(lifecycle: Lifecycle, isStopping: boolean): ApiError {
  const { state, failure } = lifecycle.health();
  if (state === 'failed' && failure !== null) return ApiError.ofFailure(failure);
  return isStopping
    ? ApiError.of('draining', 'this replica is shutting down, which ended the load')
    : ApiError.of('request_cancelled', 'an unload ended the load: send it again for a model to be loaded');
}
