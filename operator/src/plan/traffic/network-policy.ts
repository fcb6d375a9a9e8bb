// Who may reach the pods of a service: each other where they share a replica's ranks; those that its spec lists, and what of
// ours asks them (the operator for health and load; its endpoint picker, which reads metrics; prefill pods, which hand KV over;
// where it sleeps, the activator with the requests that it held). The kubelet's probes need no word: a node always reaches its
// pods. What pods send is not limited: an S3 endpoint is a name, and policies know addresses.

import type {
  V1NetworkPolicyIngressRule,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node';
import { activatorName, fieldManager, kvTransferPorts, labels, ports } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { resources } from '../../kube/resources.js';
import type { KubeObject } from '../../kube/types.js';
import { endpointPickerName } from '../identity/child-identity.js';
import { childMetadata, pickerSelector, podSelector, prefillSelector } from '../identity/child-metadata.js';

/** @param operatorNamespace where operator and activator run */
export function planNetworkPolicy(service: WantedService, operatorNamespace: string): KubeObject[] {
  const peers = service.spec.networkPolicy?.from;
  if (peers === undefined && service.nodes === 1) return [];
  const { apiVersion, kind } = resources.networkPolicies;
  return [
    {
      apiVersion,
      kind,
      metadata: childMetadata(service, service.name),
      spec: {
        podSelector: { matchLabels: podSelector(service) },
        policyTypes: ['Ingress'],
        ingress: [
          ingressOfClients(service, operatorNamespace),
          ...betweenRanks(service),
          ...fromPrefill(service),
        ],
      },
    },
  ];
}

/** At the port where pods answer requests and metrics. */
export function ingressOfClients(
  service: WantedService,
  operatorNamespace: string,
): V1NetworkPolicyIngressRule {
  const peers = service.spec.networkPolicy?.from;
  const sleeps = service.spec.scaling.idleAfterSeconds !== undefined;
  const ours: V1NetworkPolicyPeer = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } },
    podSelector: {
      matchExpressions: [
        { key: labels.name, operator: 'In', values: [fieldManager, ...(sleeps ? [activatorName] : [])] },
      ],
    },
  };
  return {
    ...(peers === undefined ? {} : { from: [...peers, ours, ...pickers(service)] }),
    ports: [{ port: ports.http, protocol: 'TCP' }],
  };
}

/** Ranks of several nodes meet at one port and agree on others; nobody but them may join, since none shows who it is. */
function betweenRanks(service: WantedService): { from: V1NetworkPolicyPeer[] }[] {
  return service.nodes === 1 ? [] : [{ from: [{ podSelector: { matchLabels: podSelector(service) } }] }];
}

/** Of KV transfer: those of the ranks, and those that UCX takes. */
export const transferPorts: V1NetworkPolicyPort = {
  ...{ port: ports.kvTransfer, endPort: ports.kvTransfer + kvTransferPorts - 1, protocol: 'TCP' },
};

/** Who is asked for KV by UCX calls back. */
function fromPrefill(
  service: WantedService,
): { from: V1NetworkPolicyPeer[]; ports: V1NetworkPolicyPort[] }[] {
  const podSelector = { matchLabels: prefillSelector(service) };
  return service.spec.disaggregation === undefined
    ? []
    : [{ from: [{ podSelector }], ports: [transferPorts] }];
}

/** Of the service's own namespace. */
function pickers(service: WantedService): V1NetworkPolicyPeer[] {
  return service.spec.routing.backend === 'inferencePool'
    ? [{ podSelector: { matchLabels: pickerSelector(service) } }]
    : [];
}

/** Who may ask the endpoint picker, and read its metrics: the gateway's pods and Prometheus are among those that may reach the service's. */
export function planPickerPolicy(service: WantedService): KubeObject[] {
  const peers = service.spec.networkPolicy?.from;
  if (peers === undefined) return [];
  const { apiVersion, kind } = resources.networkPolicies;
  return [
    {
      apiVersion,
      kind,
      metadata: childMetadata(service, endpointPickerName(service.name)),
      spec: {
        podSelector: { matchLabels: pickerSelector(service) },
        policyTypes: ['Ingress'],
        ingress: [
          {
            from: peers,
            ports: [ports.picker, ports.pickerMetrics].map((port) => ({ port, protocol: 'TCP' })),
          },
        ],
      },
    },
  ];
}
