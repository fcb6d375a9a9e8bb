// What the cluster serves of what the operator reads, by resource and namespace. Kinds of others may be missing; where the
// namespaces are named one by one, one that is gone or closed to the operator is left out, and the others go on.

import type { Resource } from '../kube/resources.js';
import type { Served } from './reflector.js';

export interface Unserved {
  readonly resource: string;
  /** Null: in all. */
  readonly namespace: string | null;
  readonly why: Exclude<Served, 'served'>;
}

export class ServiceScope {
  private readonly states = new Map<
    string,
    { resource: Resource; namespace: string | null; served: Served }
  >();

  set(resource: Resource, namespace: string | null, served: Served): void {
    this.states.set(`${namespace ?? ''}/${resource.plural}`, { resource, namespace, served });
  }

  /** Whether the kind is known and readable wherever services are; not before it was looked for. */
  serves({ kind }: Resource): boolean {
    const states = [...this.states.values()].filter(({ resource }) => resource.kind === kind);
    return states.length > 0 && states.every(({ served }) => served === 'served');
  }

  unserved(): Unserved[] {
    return [...this.states.values()].flatMap(({ resource: { plural: resource }, namespace, served: why }) =>
      why === 'served' ? [] : [{ resource, namespace, why }],
    );
  }

  /** Whether the operator may not read the kind, there or somewhere. */
  forbids({ plural }: Resource): boolean {
    return this.unserved().some(({ resource, why }) => resource === plural && why === 'forbidden');
  }
}
