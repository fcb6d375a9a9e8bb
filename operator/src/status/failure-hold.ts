// Whether a service is still given up after a failure, until its spec, its checkpoint or its retry annotation changes,
// and what becomes of its pods. What failed is remembered on the Deployment, so that it survives any restart of the
// operator.

import { annotations, failureKinds, type LastFailure, type LlmServiceStatus } from '@llmservice/crds';
import type { Deployment } from '../kube/types.js';
import type { RevisionPlan } from '../plan/revision-plan.js';
import { specHash } from '../plan/rollouts/spec-hash.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { FailureHold, Observed } from './observed.js';
import { lastingFailure, podRevision } from './pod-state.js';

/** @param attempt what would be tried now; null where the checkpoint is not known */
export function heldBefore(
  deployment: Deployment | null,
  service: WantedService,
  attempt: string | null,
  previous: LlmServiceStatus,
): LastFailure | null {
  const notes = deployment?.metadata.annotations ?? {};
  const failed = notes[annotations.failedAttempt];
  if (failed === undefined) return null;
  // Without the checkpoint only the spec can be compared.
  const same = attempt === null ? notes[annotations.specHash] === specHash(service) : failed === attempt;
  if (!same) return null;
  return previous.lastFailure?.terminal === true ? previous.lastFailure : lostReport(deployment);
}

/** A revision that was good and now fails for good, too, is nothing to go back to: what both lack has to be mended. */
export function outcomeOf({ standing, good }: RevisionPlan, observed: Observed): FailureHold['outcome'] {
  if (standing !== 'challenger' || good === null) return 'stopped';
  const pods = observed.pods.filter((pod) => podRevision(pod) === good.template.revision);
  return lastingFailure(pods) === null ? 'rolledBack' : 'stopped';
}

/** Somebody removed the status: the hold stands, its report is gone. */
function lostReport(deployment: Deployment | null): LastFailure {
  return {
    reason: 'Crashed',
    message: 'The pods are stopped after a terminal failure whose report was removed from status',
    remedy: failureKinds.Crashed.remedy,
    terminal: true,
    at: deployment?.metadata.creationTimestamp ?? '1970-01-01T00:00:00Z',
  };
}
