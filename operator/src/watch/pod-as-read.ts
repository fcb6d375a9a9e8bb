// The part of a pod that the operator reads: of thousands of pods the rest, volumes and probes and environment, would be
// most of its memory. Texts are cut where those who write them by right end: patterns look for words in them.

import { terminationMessageMaxBytes } from '@llmservice/crds';
import type { ContainerStatus, KubeObject, ObjectCondition, Pod, TerminatedState } from '../kube/types.js';

/** The scheduler reports each reason once, however many nodes have it. */
const maxOfMessage = 8192;

export function podAsRead(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec, status } = object as Pod;
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      nodeName: spec?.nodeName,
      schedulingGates: spec?.schedulingGates,
      resourceClaims: spec?.resourceClaims?.map(({ name, resourceClaimTemplateName }) => ({
        name,
        ...(resourceClaimTemplateName === undefined ? {} : { resourceClaimTemplateName }),
      })),
      overhead: spec?.overhead,
      containers: spec?.containers?.map(({ name, ports, resources }) => ({ name, ports, resources })),
      initContainers: spec?.initContainers?.map(({ name, restartPolicy, resources }) => ({
        name,
        restartPolicy,
        resources,
      })),
    },
    status: status === undefined ? undefined : statusAsRead(status),
  };
}

function statusAsRead(status: NonNullable<Pod['status']>): NonNullable<Pod['status']> {
  const { conditions, containerStatuses, initContainerStatuses } = status;
  return {
    ...status,
    ...(conditions === undefined ? {} : { conditions: conditions.map(conditionAsRead) }),
    ...(containerStatuses === undefined ? {} : { containerStatuses: containerStatuses.map(containerAsRead) }),
    ...(initContainerStatuses === undefined
      ? {}
      : { initContainerStatuses: initContainerStatuses.map(containerAsRead) }),
  };
}

function conditionAsRead(condition: ObjectCondition): ObjectCondition {
  const { message } = condition;
  return message === undefined ? condition : { ...condition, message: message.slice(0, maxOfMessage) };
}

function containerAsRead(status: ContainerStatus): ContainerStatus {
  const { state, lastState } = status;
  return {
    ...status,
    ...(state?.terminated === undefined
      ? {}
      : { state: { ...state, terminated: terminatedAsRead(state.terminated) } }),
    ...(lastState?.terminated === undefined
      ? {}
      : { lastState: { ...lastState, terminated: terminatedAsRead(lastState.terminated) } }),
  };
}

function terminatedAsRead(state: TerminatedState): TerminatedState {
  const { message } = state;
  return message === undefined ? state : { ...state, message: message.slice(0, terminationMessageMaxBytes) };
}
