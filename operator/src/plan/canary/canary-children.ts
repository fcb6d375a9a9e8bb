// The objects of a canary: a Deployment whose template is that of its revision, word for word, so that the service's own
// can take its pods over; a Service that selects these pods alone; and, for istio, the way to them.

import type { V1DeploymentSpec } from '@kubernetes/client-node';
import type { WantedService } from '../../domain/wanted-service.js';
import { canaryName } from '../../kube/canary-name.js';
import type { KubeObject } from '../../kube/types.js';
import { childMetadata, podSelector } from '../identity/child-metadata.js';
import type { PlannedTemplate } from '../pods/planned-template.js';
import { queueLabels } from '../pods/pod-metadata.js';
import { planPodService } from '../pods/pod-service.js';
import type { Canary } from './canary.js';
import { podHashLabel } from './canary-pods.js';

export interface CanaryChildren {
  readonly objects: readonly KubeObject[];
  /** What of an earlier look's stays though it is not among them. */
  readonly leftovers: 'keep' | 'remove' | 'handOver';
}

/** @param template of the revision that is tried */
export function planCanaryChildren(
  service: WantedService,
  canary: Canary,
  template: PlannedTemplate | null,
): CanaryChildren {
  switch (canary.state) {
    case 'trying': {
      if (template === null) return { objects: [], leftovers: 'keep' };
      const { replicas = 1 } = service.spec.canary ?? {};
      const deployment = planCanaryDeployment(service, template, replicas);
      const reachable = canary.hash === null ? [] : [planCanaryService(service, canary.hash)];
      return { objects: [template.configMap, deployment, ...reachable], leftovers: 'keep' };
    }
    case 'promoting':
      return { objects: [], leftovers: canary.seen ? 'handOver' : 'keep' };
    case 'leaving':
      return { objects: [], leftovers: canary.gone ? 'remove' : 'keep' };
    default:
      return { objects: [], leftovers: 'remove' };
  }
}

/**
 * Its selector is that of the service's own Deployment, which must be able to take its ReplicaSet over: controllers keep
 * to what they own, and nobody's is only what is handed over.
 */
export function planCanaryDeployment(
  service: WantedService,
  template: PlannedTemplate,
  replicas: number,
): KubeObject {
  const metadata = childMetadata(service, canaryName(service.name));
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, labels: { ...metadata.labels, ...queueLabels(service) } },
    spec: {
      replicas,
      selector: { matchLabels: podSelector(service) },
      // Of a canary before it nothing is worth devices any more.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '100%' } },
      // What is handed over are pods, and no ReplicaSets without.
      revisionHistoryLimit: 0,
      progressDeadlineSeconds: 2147483647,
      template: template.pod,
    } satisfies V1DeploymentSpec,
  };
}

export function planCanaryService(service: WantedService, hash: string): KubeObject {
  return planPodService(service, canaryName(service.name), { [podHashLabel]: hash });
}
