// The volume that weights lie on, and what has to be done before a pod may write to it.

import { paths, weightsContainer } from '@llmservice/crds';
import type { NodeCache } from '../../spec/node-cache.js';
import type { WantedService } from '../../spec/parse-spec.js';
import { restricted, runtimeUser, terminationMessage } from './container-parts.js';

export function weightsVolume(cache: NodeCache | null): object {
  switch (cache?.kind) {
    case undefined:
      return { emptyDir: {} };
    case 'hostPath':
      return { hostPath: { path: cache.path, type: 'DirectoryOrCreate' } };
    case 'pvc':
      return { persistentVolumeClaim: { claimName: cache.claimName } };
  }
}

/**
 * The kubelet makes a folder of the node for root alone, and fsGroup is not for such: a container that may change owners,
 * and nothing else, gives it to the runtime's user. Namespaces that allow hostPath allow this too.
 */
export function prepareCache({ cache }: WantedService, image: string): { initContainers?: object[] } {
  if (cache?.kind !== 'hostPath') return {};
  const owner = String(runtimeUser);
  const prepare = {
    name: weightsContainer,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/chown', `${owner}:${owner}`, paths.weights],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
    securityContext: {
      ...restricted,
      runAsNonRoot: false,
      runAsUser: 0,
      capabilities: { ...restricted.capabilities, add: ['CHOWN'] },
    },
    ...terminationMessage,
    volumeMounts: [{ name: 'weights', mountPath: paths.weights }],
  };
  return { initContainers: [prepare] };
}
