// The volume that weights lie on, and what has to be done before a pod may write to it. Of a folder of the node, a pod
// that serves sees PATH/namespaces/NAMESPACE alone. All above it belongs to root, and no part of the path is a tenant's
// choice: a tenant can leave links in the node's folders, and they would be followed there.

import { paths, weightsContainer } from '@llmservice/crds';
import type { NodeCache } from '../../spec/node-cache.js';
import type { WantedService } from '../../spec/parse-spec.js';
import { restricted, runtimeUser, terminationMessage } from './container-parts.js';

/** Not beside what is in the allowed folder already, which another namespace may have written. */
const namespacesFolder = 'namespaces';

/** Of a namespace, below the allowed folder. */
export function ownFolder({ namespace }: Pick<WantedService, 'namespace'>): string {
  return `${namespacesFolder}/${namespace}`;
}

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

/** The kubelet opens a subPath without following a link out of the volume, and mounts what it has open. */
export function weightsMount(service: Pick<WantedService, 'cache' | 'namespace'>): object {
  const mount = { name: 'weights', mountPath: paths.weights };
  return service.cache?.kind === 'hostPath' ? { ...mount, subPath: ownFolder(service) } : mount;
}

/**
 * Makes the namespace's folder and gives it to the runtime's user. It runs as root on the node's folder, so its image is
 * the operator's own, whatever image the service names. Namespaces that allow hostPath allow this too.
 */
export function prepareCache(
  service: Pick<WantedService, 'cache' | 'namespace'>,
  operatorImage: string | null,
): { initContainers?: object[] } {
  if (service.cache?.kind !== 'hostPath' || operatorImage === null) return {};
  const prepare = {
    name: weightsContainer,
    image: operatorImage,
    imagePullPolicy: 'IfNotPresent',
    command: [
      ...['node', 'operator/dist/node-folder/main.js'],
      ...[paths.nodeFolder, ownFolder(service), String(runtimeUser), service.cache.path],
    ],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    securityContext: {
      ...restricted,
      runAsNonRoot: false,
      runAsUser: 0,
      runAsGroup: 0,
      capabilities: { ...restricted.capabilities, add: ['CHOWN'] },
    },
    ...terminationMessage,
    volumeMounts: [{ name: 'weights', mountPath: paths.nodeFolder }],
  };
  return { initContainers: [prepare] };
}

interface Mount {
  readonly name: string;
  readonly subPath?: string;
}
interface PodShape {
  readonly spec?: {
    readonly containers?: readonly { readonly volumeMounts?: readonly Mount[] }[];
    readonly volumes?: readonly { readonly name: string; readonly hostPath?: object }[];
  };
}

/** Whether a template that was planned before, perhaps by an earlier operator, mounts nothing more of a node. */
export function keepsToOwnFolder(pod: object, service: Pick<WantedService, 'namespace'>): boolean {
  const { volumes = [], containers = [] } = (pod as PodShape).spec ?? {};
  const ofNode = new Set(volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name));
  const own = ownFolder(service);
  return containers
    .flatMap(({ volumeMounts = [] }) => volumeMounts)
    .every(({ name, subPath }) => !ofNode.has(name) || subPath === own);
}
