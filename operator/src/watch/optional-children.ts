// What a service may have or not, and what of it the operator removes when it is not wanted: its route, NetworkPolicy and
// autoscaler, the activator's endpoints, an InferencePool with its picker, a canary, prefill pods.

import { canaryName, canaryResources } from '../kube/canary-name.js';
import { prefillName, prefillResources } from '../kube/prefill-name.js';
import { resources, type Resource } from '../kube/resources.js';
import { activatorEndpointsName, endpointPickerName } from '../plan/identity/child-identity.js';

const { networkPolicies, horizontalPodAutoscalers, scaledObjects, deployments, services } = resources;
const { httpRoutes, backendTlsPolicies, virtualServices, destinationRules, endpointSlices } = resources;
const { inferencePools, serviceAccounts, roles, roleBindings } = resources;

const named = [
  ...[networkPolicies, httpRoutes, backendTlsPolicies, virtualServices, destinationRules],
  ...[horizontalPodAutoscalers, scaledObjects, inferencePools],
];

/** Kinds that endpoint pickers alone have. */
const pickerResources: readonly Resource[] = [serviceAccounts, roles, roleBindings];

/** Kinds of objects that belong to services, beside EndpointSlices: the cluster's own, and those of others, which may be missing. */
export function childKinds(withPickers: boolean): Record<'own' | 'ofOthers', readonly Resource[]> {
  const { controllerRevisions, configMaps, disruptionBudgets, jobs } = resources;
  return {
    own: [
      ...[deployments, controllerRevisions, services, configMaps, disruptionBudgets, networkPolicies],
      ...[jobs, horizontalPodAutoscalers],
    ],
    ofOthers: [
      ...[httpRoutes, backendTlsPolicies, virtualServices, destinationRules, scaledObjects],
      // Pools even without pickers: an operator that had one may have left some.
      ...[resources.claimTemplates, resources.leaderWorkerSets, inferencePools],
      ...(withPickers ? pickerResources : []),
    ],
  };
}

/** Kinds and names. Not the picker's rights, which the operator may not delete and which go with the service. */
export function optionalChildren(service: string): readonly (readonly [Resource, string])[] {
  return [
    ...named.map((each) => [each, service] as const),
    [endpointSlices, activatorEndpointsName(service)],
    ...[deployments, services, networkPolicies, destinationRules].map(
      (each) => [each, endpointPickerName(service)] as const,
    ),
    ...canaryResources.map((each) => [each, canaryName(service)] as const),
    ...prefillResources.map((each) => [each, prefillName(service)] as const),
  ];
}
