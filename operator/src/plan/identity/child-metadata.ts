// Names, labels and the owner of everything that belongs to one service.

import type { V1OwnerReference } from '@kubernetes/client-node';
import { api, fieldManager, groupLabels, labels, servingName } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';

type Owner = Pick<WantedService, 'namespace' | 'name' | 'uid'>;

/** The labels that select a service's pods; a Deployment's selector can never change, so these stay minimal. */
export function podSelector(service: Pick<Owner, 'name'>): Record<string, string> {
  return { [labels.service]: service.name };
}

/** Of those that answer requests: where several pods share a replica's ranks, the leaders. */
export function servingSelector(service: Pick<WantedService, 'name' | 'nodes'>): Record<string, string> {
  return { ...podSelector(service), ...(service.nodes > 1 ? { [groupLabels.worker]: '0' } : {}) };
}

/** Those of its endpoint picker's, which has none of the above: the Service would lead to it. */
export function pickerSelector(service: Pick<Owner, 'name'>): Record<string, string> {
  return { [labels.picker]: service.name };
}

/** Those of its prefill pods, which have none of the service's own: neither do they answer clients, nor are they its replicas. */
export function prefillSelector(service: Pick<Owner, 'name'>): Record<string, string> {
  return { [labels.prefill]: service.name };
}

export function childLabels(service: Pick<Owner, 'name'>): Record<string, string> {
  return {
    ...podSelector(service),
    [labels.name]: servingName,
    [labels.instance]: service.name,
    [labels.managedBy]: fieldManager,
  };
}

/** Owned without blockOwnerDeletion, which would need a further permission and only slows deletion. */
export function childMetadata(
  service: Owner,
  name: string,
): { name: string; namespace: string; labels: Record<string, string>; ownerReferences: V1OwnerReference[] } {
  return {
    name,
    namespace: service.namespace,
    labels: childLabels(service),
    ownerReferences: [
      {
        apiVersion: api.groupVersion,
        kind: api.kind,
        name: service.name,
        uid: service.uid,
        controller: true,
      },
    ],
  };
}
