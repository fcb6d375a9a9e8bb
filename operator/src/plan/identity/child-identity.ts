// Which objects may belong to a service or to a gateway: a closed table of kinds, and the name that each has. What is planned from stored
// or observed objects is held against it before it is written, so that none of these can have the operator write with its
// own rights what a tenant may not.

import type { gatewayApi } from '@llmservice/crds';
import { canaryName, canaryResources } from '../../kube/canary-name.js';
import { groupSetName } from '../../kube/group-set-name.js';
import { prefillName, prefillResources } from '../../kube/prefill-name.js';
import { resources, type Resource } from '../../kube/resources.js';
import type { KubeObject } from '../../kube/types.js';

export interface ChildOwner {
  /** Undefined: an LlmService. */
  readonly kind?: typeof gatewayApi.kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A Job's pods have its name as a label, which holds 63 characters: this, `-pull-` and a hash. */
const maxOfJobName = 47;

export function activatorEndpointsName(service: string): string {
  return `${service}-activator`;
}

/** Of all that belongs to the endpoint picker of a service. */
export function endpointPickerName(service: string): string {
  return `${service}-picker`;
}

/** @param hash of the engine config */
export function configMapName(service: string, hash: string): string {
  return `${service}-engine-${hash}`;
}

export function adapterListName(service: string): string {
  return `${service}-adapters`;
}

/** @param hash of what it asks for */
export function claimTemplateName(service: string, hash: string): string {
  return `${service}-devices-${hash}`;
}

export function revisionName(service: string, hash: string): string {
  return `${service}-${hash}`;
}

/** What a Job's name has of its service's. */
export function pullJobBegin(service: string): string {
  return service.slice(0, maxOfJobName);
}

export function pullJobName(service: string, hash: string): string {
  return `${pullJobBegin(service)}-pull-${hash}`;
}

const { deployments, services, disruptionBudgets, networkPolicies, httpRoutes, virtualServices } = resources;
const { destinationRules, backendTlsPolicies, horizontalPodAutoscalers, scaledObjects } = resources;
const { endpointSlices, configMaps, controllerRevisions, jobs, claimTemplates } = resources;
const { inferencePools, leaderWorkerSets, serviceAccounts, roles, roleBindings } = resources;

/** Its name for the service and, where it has one, for a hash. */
type NameOf = (service: string, hash: string) => string;

const rules: readonly (readonly [Resource, NameOf])[] = [
  ...[deployments, services, disruptionBudgets, networkPolicies, httpRoutes, virtualServices].map(named),
  ...[destinationRules, backendTlsPolicies, horizontalPodAutoscalers, scaledObjects].map(named),
  ...canaryResources.map((resource): [Resource, NameOf] => [resource, canaryName]),
  ...prefillResources.map((resource): [Resource, NameOf] => [resource, prefillName]),
  named(inferencePools),
  ...[deployments, services, networkPolicies, serviceAccounts, roles, roleBindings, destinationRules].map(
    (resource): [Resource, NameOf] => [resource, endpointPickerName],
  ),
  ...[leaderWorkerSets, services].map((resource): [Resource, NameOf] => [resource, groupSetName]),
  [endpointSlices, activatorEndpointsName],
  [configMaps, configMapName],
  [configMaps, adapterListName],
  [controllerRevisions, revisionName],
  [jobs, pullJobName],
  [claimTemplates, claimTemplateName],
];

/** Of all that belongs to a gateway, apart from those of a service of its name. */
export function gatewayChildName(gateway: string): string {
  return `${gateway}-gateway`;
}

const gatewayRules: typeof rules = [
  ...[deployments, services, configMaps, disruptionBudgets, networkPolicies],
  ...[httpRoutes, virtualServices, destinationRules],
].map((resource): [Resource, NameOf] => [resource, gatewayChildName]);

/** Whose object it is, as a word for people. */
export function ownerNoun({ kind }: Pick<ChildOwner, 'kind'>): string {
  return kind === undefined ? 'service' : 'gateway';
}

function named(resource: Resource): [Resource, NameOf] {
  return [resource, (service) => service];
}

/** What keeps the object from being a child of this owner; null: nothing. */
export function strangeness({ apiVersion, kind, metadata }: KubeObject, owner: ChildOwner): string | null {
  const { name, namespace, ownerReferences = [] } = metadata;
  const noun = ownerNoun(owner);
  const table = owner.kind === undefined ? rules : gatewayRules;
  const own = table.filter(([resource]) => resource.apiVersion === apiVersion && resource.kind === kind);
  if (own.length === 0) return `${noun}s have no ${apiVersion} ${kind}`;
  if (namespace !== owner.namespace) return `it lies in namespace ${namespace ?? 'none'}`;
  // Without one, what no name has.
  const [hash = '?'] = /[0-9a-f]{10}$/.exec(name) ?? [];
  if (!own.some(([, nameOf]) => name === nameOf(owner.name, hash)))
    return `${noun}s have no ${kind} of this name`;
  const [reference, ...others] = ownerReferences;
  if (reference?.uid !== owner.uid || reference.controller !== true || others.length > 0) {
    return `it is not owned by the ${noun} alone`;
  }
  return null;
}
