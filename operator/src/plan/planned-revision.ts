// The revision of a Deployment that was planned from this very spec, for times when nothing can be planned (S3 is
// away right after the operator's start): its pods are judged as before.

import type { Deployment } from '../kube/types.js';
import type { WantedService } from '../spec/parse-spec.js';
import { specHash, specHashAnnotation } from './children.js';
import { revisionAnnotation } from './pod-template.js';

export function plannedRevision(service: WantedService, deployment: Deployment | null): string | null {
  if (deployment?.metadata.annotations?.[specHashAnnotation] !== specHash(service)) return null;
  return deployment.spec?.template?.metadata?.annotations?.[revisionAnnotation] ?? null;
}
