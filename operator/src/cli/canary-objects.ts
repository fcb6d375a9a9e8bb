// The objects that a plan shows of a revision that is tried beside the stable one. Pure.

import type { WantedService } from '../domain/wanted-service.js';
import { resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { planCanaryDeployment, planCanaryService } from '../plan/canary/canary-children.js';
import type { PlannedTemplate } from '../plan/pods/planned-template.js';
import type { Disruption } from './disruption.js';

/** The label that the Deployment's controller will give its pods. */
const unknownHash = 'HASH-OF-ITS-PODS';

/** @param isCompared with pods of another revision: the service's own Deployment stays as it is, and the canary's comes beside it. */
export function withCanary(
  service: WantedService,
  objects: readonly KubeObject[],
  template: PlannedTemplate,
  disruption: Disruption,
  isCompared: boolean,
): KubeObject[] {
  if (disruption.kind !== 'canary') return [...objects];
  const { replicas = 1 } = service.spec.canary ?? {};
  const isOwn = ({ kind }: KubeObject): boolean => kind === resources.deployments.kind;
  return [
    ...(isCompared ? objects.filter((object) => !isOwn(object)) : objects),
    planCanaryDeployment(service, template, replicas),
    planCanaryService(service, unknownHash),
  ];
}
