// The kinds that the operator reads or writes, and their paths in the API.

import { api, classApi, gatewayApi, labels } from '@llmservice/crds';
import type { KubeObject } from './types.js';

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

export const resources = {
  llmServices: { apiVersion: api.groupVersion, kind: api.kind, plural: api.plural },
  llmGateways: { apiVersion: api.groupVersion, ...gatewayApi },
  llmServiceClasses: { apiVersion: api.groupVersion, ...classApi },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
  controllerRevisions: { apiVersion: 'apps/v1', kind: 'ControllerRevision', plural: 'controllerrevisions' },
  services: { apiVersion: 'v1', kind: 'Service', plural: 'services' },
  endpointSlices: { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', plural: 'endpointslices' },
  configMaps: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  disruptionBudgets: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
  networkPolicies: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' },
  httpRoutes: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', plural: 'httproutes' },
  backendTlsPolicies: {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'BackendTLSPolicy',
    plural: 'backendtlspolicies',
  },
  inferencePools: {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    plural: 'inferencepools',
  },
  leaderWorkerSets: {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    plural: 'leaderworkersets',
  },
  serviceAccounts: { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
  roles: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', plural: 'roles' },
  roleBindings: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    plural: 'rolebindings',
  },
  gateways: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', plural: 'gateways' },
  virtualServices: {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    plural: 'virtualservices',
  },
  destinationRules: {
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    plural: 'destinationrules',
  },
  horizontalPodAutoscalers: {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
  },
  scaledObjects: { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', plural: 'scaledobjects' },
  jobs: { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
  pods: { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  nodes: { apiVersion: 'v1', kind: 'Node', plural: 'nodes' },
  secrets: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
  claimTemplates: {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    plural: 'resourceclaimtemplates',
  },
  resourceClaims: { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', plural: 'resourceclaims' },
  resourceSlices: { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', plural: 'resourceslices' },
  volumeClaims: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  events: { apiVersion: 'v1', kind: 'Event', plural: 'events' },
  leases: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' },
} as const satisfies Record<string, Resource>;

/** `/api/v1` or `/apis/GROUP/VERSION`. */
export function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Path of all objects of a resource, in one namespace or (null) in every one. */
export function collectionPath(resource: Resource, namespace: string | null): string {
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${groupPath(resource.apiVersion)}${scope}/${resource.plural}`;
}

export function objectPath(resource: Resource, namespace: string | null, name: string): string {
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
}

/** NAMESPACE/NAME. */
export function keyOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** NAMESPACE/NAME of the service that an object belongs to by its label; null: to none. */
export function serviceKeyOf({ metadata }: Pick<KubeObject, 'metadata'>): string | null {
  const service = metadata.labels?.[labels.service];
  return service === undefined ? null : `${metadata.namespace ?? ''}/${service}`;
}

/** NAMESPACE/NAME of the service whose pod or prefill pod it is by its labels; null: of none. */
export function podKeyOf(pod: Pick<KubeObject, 'metadata'>): string | null {
  const ofPrefill = pod.metadata.labels?.[labels.prefill];
  return ofPrefill === undefined ? serviceKeyOf(pod) : `${pod.metadata.namespace ?? ''}/${ofPrefill}`;
}

/** The plural in a path of the API; empty for discovery. */
export function pluralIn(path: string): string {
  const [root, ...rest] = path.split('/').filter((part) => part !== '');
  const inGroup = rest.slice(root === 'api' ? 1 : 2);
  return (inGroup[0] === 'namespaces' && inGroup.length > 2 ? inGroup[2] : inGroup[0]) ?? '';
}

/** The resource of an object's kind. @throws when the operator does not know the kind */
export function resourceOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource {
  const found = Object.values(resources).find(
    (resource) => resource.apiVersion === object.apiVersion && resource.kind === object.kind,
  );
  if (found === undefined) throw new Error(`unknown kind ${object.apiVersion} ${object.kind}`);
  return found;
}
