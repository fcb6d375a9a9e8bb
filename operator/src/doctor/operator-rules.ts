// What is asked of the API: by the operator, as its chart grants it (a test compares the two), and by people who run
// services.

export interface Rule {
  readonly group: string;
  /** With a subresource after a slash. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** One thing that somebody may not. */
export interface DeniedRequest {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** What for. */
  readonly purpose: string;
}

const keptAndDeleted = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** In the namespaces that it serves. */
export const operatorRules: readonly Rule[] = [
  { group: 'llmservice.dev', resource: 'llmservices', verbs: ['get', 'list', 'watch'] },
  { group: 'llmservice.dev', resource: 'llmservices/status', verbs: ['get', 'patch'] },
  { group: 'llmservice.dev', resource: 'llmservices/scale', verbs: ['patch'] },
  { group: 'llmservice.dev', resource: 'llmgateways', verbs: ['get', 'list', 'watch'] },
  { group: 'llmservice.dev', resource: 'llmgateways/status', verbs: ['get', 'patch'] },
  { group: 'apps', resource: 'deployments', verbs: keptAndDeleted },
  { group: 'apps', resource: 'controllerrevisions', verbs: keptAndDeleted },
  { group: '', resource: 'services', verbs: keptAndDeleted },
  { group: '', resource: 'configmaps', verbs: keptAndDeleted },
  { group: 'batch', resource: 'jobs', verbs: keptAndDeleted },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: keptAndDeleted },
  { group: 'discovery.k8s.io', resource: 'endpointslices', verbs: keptAndDeleted },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: keptAndDeleted },
  { group: 'gateway.networking.k8s.io', resource: 'httproutes', verbs: keptAndDeleted },
  { group: 'gateway.networking.k8s.io', resource: 'backendtlspolicies', verbs: keptAndDeleted },
  { group: 'autoscaling', resource: 'horizontalpodautoscalers', verbs: keptAndDeleted },
  { group: 'keda.sh', resource: 'scaledobjects', verbs: keptAndDeleted },
  { group: 'networking.istio.io', resource: 'virtualservices', verbs: keptAndDeleted },
  { group: 'networking.istio.io', resource: 'destinationrules', verbs: keptAndDeleted },
  {
    group: 'inference.networking.k8s.io',
    resource: 'inferencepools',
    verbs: ['get', 'list', 'watch', 'delete'],
  },
  { group: 'leaderworkerset.x-k8s.io', resource: 'leaderworkersets', verbs: keptAndDeleted },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods/log', verbs: ['get'] },
  { group: '', resource: 'secrets', verbs: ['get'] },
  { group: '', resource: 'persistentvolumeclaims', verbs: ['get'] },
  { group: 'resource.k8s.io', resource: 'resourceclaimtemplates', verbs: keptAndDeleted },
  { group: 'resource.k8s.io', resource: 'resourceclaims', verbs: ['list'] },
  { group: 'kueue.x-k8s.io', resource: 'workloads', verbs: ['list'] },
  { group: '', resource: 'events', verbs: ['create'] },
];

/** In its own namespace. */
export const leaderRules: readonly Rule[] = [
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'create', 'update'] },
];

/** What a person does with services, and the rights that it takes, in the namespace of the services. */
export const personRules: readonly (Rule & { readonly purpose: string })[] = [
  {
    ...{
      group: 'llmservice.dev',
      resource: 'llmservices',
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
    },
    purpose: 'deploy services',
  },
  { group: '', resource: 'pods', verbs: ['get', 'list'], purpose: 'see the pods of services' },
  { group: '', resource: 'pods/log', verbs: ['get'], purpose: 'kubectl llm logs' },
  { group: '', resource: 'pods/portforward', verbs: ['create', 'get'], purpose: 'kubectl llm chat' },
  { group: '', resource: 'pods/eviction', verbs: ['create'], purpose: 'kubectl llm drain' },
  { group: '', resource: 'secrets', verbs: ['get'], purpose: 'check Secrets and buckets from here' },
];

/** One request per verb. */
export function requestsOf<R extends Rule>(rules: readonly R[]): (R & { readonly verb: string })[] {
  return rules.flatMap((rule) => rule.verbs.map((verb) => ({ ...rule, verb })));
}
