// What v1beta1 names otherwise than v1alpha1: the one description from which the conversion, the schema of v1beta1 and its
// rules follow. Each row is a leaf of the spec that stays where it is; none lies below another, and no value is lost.

export interface BetaField {
  /** In v1alpha1; `[]` stands for the items of a list. */
  readonly path: string;
  /** Its last part in v1beta1. */
  readonly name: string;
  /** Values by their spelling in v1alpha1; absent: as they are. */
  readonly values?: Readonly<Record<string, string>>;
  /** Words of descriptions and messages that mean the field without its path, and what stands for them. */
  readonly phrases?: Readonly<Record<string, string>>;
  readonly reason: string;
}

export const betaFields: readonly BetaField[] = [
  {
    path: 'spec.accelerator.devices',
    name: 'count',
    reason: 'A number, where `devices` reads as a list. The word of device requests in resource.k8s.io.',
  },
  {
    path: 'spec.model.cache.kind',
    name: 'type',
    phrases: { 'of kind hostPath': 'of type hostPath', 'of kind pvc': 'of type pvc' },
    reason: 'Kubernetes names the member of a union by `type`; `kind` is that of an object.',
  },
  {
    path: 'spec.stop',
    name: 'suspend',
    reason:
      'The word of Jobs and CronJobs for a state. `stop` reads as a command, and is a value of `budget.action`.',
  },
  {
    path: 'spec.routing.host',
    name: 'hostname',
    phrases: { 'even if host is set': 'even if hostname is set' },
    reason: 'The word of the Gateway API: a name without a port.',
  },
  {
    path: 'spec.routing.fallback.service',
    name: 'serviceName',
    reason: 'A name, where references to objects are `…Ref` and hold an object.',
  },
  {
    path: 'spec.server.maxBodiesBytes',
    name: 'maxTotalBodyBytes',
    reason: 'The total of all bodies: one letter away from `maxBodyBytes`, the bound of one.',
  },
  {
    path: 'spec.requestLog.text',
    name: 'includeText',
    reason: 'A switch, where `text` reads as a text.',
  },
  {
    path: 'spec.rollout.strategy',
    name: 'strategy',
    values: { Auto: 'auto', Surge: 'surge', Drain: 'drain' },
    phrases: {
      'Surge: a new pod': 'surge: a new pod',
      'Drain: an old': 'drain: an old',
      'Auto: Surge where': 'auto: surge where',
      'otherwise Drain': 'otherwise drain',
    },
    reason: 'Values in lower case, as those of all other fields.',
  },
  {
    path: 'spec.rollout.noProgressTimeoutSeconds',
    name: 'progressDeadlineSeconds',
    reason: 'The word of Deployments for the same time.',
  },
  {
    path: 'spec.canary.steps[].weight',
    name: 'weightPercent',
    phrases: { 'set weight or mirrorPercent': 'set weightPercent or mirrorPercent' },
    reason: 'The unit, as beside it in `mirrorPercent`; weights of the Gateway API are relative.',
  },
];

/** The names of its parents and its own one in v1alpha1. */
export function partsOf({ path }: BetaField): { readonly parents: readonly string[]; readonly own: string } {
  const parts = path.replaceAll('[]', '.[]').split('.');
  return { parents: parts.slice(0, -1), own: parts.at(-1) ?? '' };
}
