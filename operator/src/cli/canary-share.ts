// What a revision that is tried beside the stable one takes and adds. Pure.

import type { WantedService } from '../domain/wanted-service.js';
import { resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { planCanaryDeployment, planCanaryService } from '../plan/canary/canary-children.js';
import type { PlannedTemplate } from '../plan/pods/planned-template.js';
import type { Disruption } from './disruption.js';

/** Of all its pods. */
export interface CanaryShare {
  readonly pods: number;
  /** 0 on the CPU. */
  readonly devices: number;
  /** Null: nobody said how much a device has. */
  readonly memoryBytes: number | null;
}

/** The label that the Deployment's controller will give its pods. */
const unknownHash = 'HASH-OF-ITS-PODS';

export function canaryShare({ accelerator }: WantedService, pods: number): CanaryShare {
  const { kind, devices, memoryBytesPerDevice } = accelerator;
  return {
    pods,
    devices: kind === 'cpu' ? 0 : pods * devices,
    memoryBytes:
      memoryBytesPerDevice === null ? null : pods * (kind === 'cpu' ? 1 : devices) * memoryBytesPerDevice,
  };
}

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
