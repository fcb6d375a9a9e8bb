// The list of LoRA adapters as pods read it: a ConfigMap of a fixed name, mounted whole, whose changes the kubelet brings to
// running pods as it does those of Secrets with keys. The pod template holds the room for adapters alone, so that a change
// of the list is no revision.

import type { V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import { adapterListFile, adapterListText, paths, type ListedAdapter } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { adapterListName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';

type Room = Pick<WantedService, 'adapterRoom'>;

const volume = 'adapters';

export function hasAdapterList({ adapterRoom }: Room): boolean {
  return adapterRoom.max > 0;
}

export function planAdapterList(service: WantedService, adapters: readonly ListedAdapter[]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: childMetadata(service, adapterListName(service.name)),
    data: { [adapterListFile]: adapterListText(adapters) },
  };
}

export function adapterMounts(service: Room): V1VolumeMount[] {
  if (!hasAdapterList(service)) return [];
  return [{ name: volume, mountPath: paths.adapters, readOnly: true }];
}

export function adapterVolumes(service: Room & Pick<WantedService, 'name'>): V1Volume[] {
  if (!hasAdapterList(service)) return [];
  // The model is served even where somebody deleted the list.
  return [
    {
      name: volume,
      configMap: { name: adapterListName(service.name), defaultMode: 0o644, optional: true },
    },
  ];
}
