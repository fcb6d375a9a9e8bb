// The volume that weights lie on, and what has to be done before a pod may write to it. Of a folder of the node, a pod
// that serves sees PATH/namespaces/NAMESPACE alone. All above it belongs to root, and no part of the path is a tenant's
// choice: a tenant can leave links in the node's folders, and they would be followed there.

import type { V1Container, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import { paths, weightsContainer } from '@llmservice/crds';
import { isDeepStrictEqual } from 'node:util';
import type { NodeCache, WantedService } from '../../domain/wanted-service.js';
import { repositoryOf } from '../../resource/image-names.js';
import { restricted, runtimeUser, terminationMessage } from './container-parts.js';

/** Not beside what is in the allowed folder already, which another namespace may have written. */
const namespacesFolder = 'namespaces';

/** Of a namespace, below the allowed folder. */
export function ownFolder({ namespace }: Pick<WantedService, 'namespace'>): string {
  return `${namespacesFolder}/${namespace}`;
}

export function weightsVolume(cache: NodeCache | null): Omit<V1Volume, 'name'> {
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
export function weightsMount(service: Pick<WantedService, 'cache' | 'namespace'>): V1VolumeMount {
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
): { initContainers?: V1Container[] } {
  if (service.cache?.kind !== 'hostPath' || operatorImage === null) return {};
  return { initContainers: [preparation(service, service.cache.path, operatorImage)] };
}

function preparation(service: Pick<WantedService, 'namespace'>, folder: string, image: string): V1Container {
  return {
    name: weightsContainer,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [
      ...['node', 'operator/dist/node-folder/main.js'],
      ...[paths.nodeFolder, ownFolder(service), String(runtimeUser), folder],
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
}

/** What an administrator lets services have of nodes. */
export interface NodeRules {
  readonly allowedHostPaths: readonly string[];
  /** Null: not known. */
  readonly operatorImage: string | null;
}

interface Container {
  readonly image?: unknown;
  readonly volumeMounts?: readonly { readonly name: string; readonly subPath?: string }[];
}
interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path?: unknown } }[];
}

/** Whether a pod that was planned before, perhaps by an earlier operator, has no more of a node than one planned now. */
export function keepsToOwnFolder(
  { volumes = [], containers = [], initContainers = [] }: PodSpec,
  service: Pick<WantedService, 'namespace'>,
  { allowedHostPaths, operatorImage }: NodeRules,
): boolean {
  const own = ownFolder(service);
  return volumes
    .filter(({ hostPath }) => hostPath !== undefined)
    .every(({ name: volume, hostPath }) => {
      const folder = hostPath?.path;
      if (typeof folder !== 'string' || !allowedHostPaths.includes(folder)) return false;
      return [...containers, ...initContainers].every((container) => {
        const mounts = (container.volumeMounts ?? []).filter(({ name }) => name === volume);
        if (mounts.every(({ subPath }) => subPath === own)) return true;
        const { image } = container;
        return (
          typeof image === 'string' &&
          operatorImage !== null &&
          repositoryOf(image) === repositoryOf(operatorImage) &&
          isDeepStrictEqual(container, preparation(service, folder, image))
        );
      });
    });
}
