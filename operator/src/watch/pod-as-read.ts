// The part of a pod that the operator reads: of thousands of pods the rest, volumes and probes and environment, would be
// most of its memory.

import type { KubeObject, Pod } from '../kube/types.js';

export function podAsRead(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec, status } = object as Pod;
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      nodeName: spec?.nodeName,
      overhead: spec?.overhead,
      containers: spec?.containers?.map(({ name, ports, resources }) => ({ name, ports, resources })),
      initContainers: spec?.initContainers?.map(({ name, restartPolicy, resources }) => ({
        name,
        restartPolicy,
        resources,
      })),
    },
    status,
  };
}
