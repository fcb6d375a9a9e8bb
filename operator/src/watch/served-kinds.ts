// What the cluster serves of the kinds that the operator reads, by namespace. Kinds of others may be missing, or forbidden to
// the operator. Where namespaces are named one by one, one that is gone or closed is left out, and the others continue.

import type { Logger } from 'winston';
import { resources, type Resource } from '../kube/resources.js';
import type { CollectionOptions } from './collection.js';
import type { Served } from './reflector.js';

export interface Unserved {
  readonly resource: string;
  /** Null: in all. */
  readonly namespace: string | null;
  readonly why: Exclude<Served, 'served'>;
}

interface Kind extends Omit<Unserved, 'why'> {
  readonly isOptional: boolean;
  readonly served: Served;
}

export class ServedKinds {
  private readonly states = new Map<string, Kind>();

  /** @param onChange called when something came or went: every service may be concerned */
  constructor(
    private readonly namespaces: readonly string[] | null,
    private readonly logger: Logger,
    private readonly onChange: () => void,
  ) {}

  /** For a kind of others: it may be installed after the operator, and removed before it; so may the operator's rights. */
  optional(resource: Resource): Pick<CollectionOptions, 'onServed'> {
    return { onServed: (served, namespace) => this.set(resource, { namespace, isOptional: true, served }) };
  }

  /** For a kind that the operator needs. Where there is but one scope, nothing can work without it. */
  necessary(resource: Resource): Pick<CollectionOptions, 'onServed'> {
    return this.namespaces === null || this.namespaces.length === 1
      ? {}
      : { onServed: (served, namespace) => this.set(resource, { namespace, isOptional: false, served }) };
  }

  /** Whether the cluster knows HTTPRoute. */
  get gatewayApi(): boolean {
    return this.serves(resources.httpRoutes);
  }

  /** Whether the cluster knows BackendTLSPolicy. */
  get backendTls(): boolean {
    return this.serves(resources.backendTlsPolicies);
  }

  /** Whether the cluster knows VirtualService. */
  get istio(): boolean {
    return this.serves(resources.virtualServices) && this.destinationRules;
  }

  /** Whether the cluster knows DestinationRule. */
  get destinationRules(): boolean {
    return this.serves(resources.destinationRules);
  }

  /** Whether the cluster knows InferencePool. */
  get inferencePools(): boolean {
    return this.serves(resources.inferencePools);
  }

  /** Whether the cluster knows KEDA's ScaledObject. */
  get keda(): boolean {
    return this.serves(resources.scaledObjects);
  }

  /** Whether the cluster knows LeaderWorkerSet, which replicas on several nodes take. */
  get leaderWorkerSets(): boolean {
    return this.serves(resources.leaderWorkerSets);
  }

  /** Whether the cluster knows ResourceClaims, by which devices may be asked for. */
  get deviceClaims(): boolean {
    return this.serves(resources.claimTemplates);
  }

  /** Kinds of others that the operator may not read: they count as not served, but another remedy helps. */
  get forbidden(): readonly string[] {
    const kinds = [...this.states.values()].filter((kind) => kind.isOptional && kind.served === 'forbidden');
    return [...new Set(kinds.map(({ resource }) => resource))];
  }

  /** What is not there or may not be read. */
  unserved(): Unserved[] {
    return [...this.states.values()].flatMap(({ resource, namespace, served: why }) =>
      why === 'served' ? [] : [{ resource, namespace, why }],
    );
  }

  /** Whether what is known of the namespace is all that there is: a part would have the operator undo what it does not see. */
  isWhole(namespace: string | undefined): boolean {
    return [...this.states.values()].every(
      (kind) => kind.isOptional || kind.namespace !== namespace || kind.served === 'served',
    );
  }

  /** None of the namespaces that are named can be looked after. */
  get isBlind(): boolean {
    return this.namespaces?.every((each) => !this.isWhole(each)) === true;
  }

  private set({ plural: resource }: Resource, state: Omit<Kind, 'resource'>): void {
    const { namespace, served } = state;
    this.states.set(`${namespace ?? ''}/${resource}`, { ...state, resource });
    if (served === 'forbidden')
      this.logger.warn('the operator may not read a resource', { resource, namespace });
    this.onChange();
  }

  /** Known and readable wherever services are; not before it was looked for. */
  private serves({ plural }: Resource): boolean {
    const kinds = [...this.states.values()].filter(({ resource }) => resource === plural);
    return kinds.length > 0 && kinds.every(({ served }) => served === 'served');
  }
}
