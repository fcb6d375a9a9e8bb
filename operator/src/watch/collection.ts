// All objects of one resource in the namespaces that the operator serves: one reflector for all namespaces, or one for
// each that is named. Nothing that happens to one of them ends what is known of the others.

import type { KubeObject } from '../kube/types.js';
import { Reflector, type ReflectorOptions, type Served } from './reflector.js';

export interface CollectionOptions extends Omit<ReflectorOptions, 'namespace' | 'onServed'> {
  /** Null: all. */
  readonly namespaces: readonly string[] | null;
  /** Called with what is served by namespace (null: all of them); without it the resource has to be there. */
  readonly onServed?: (served: Served, namespace: string | null) => void;
}

export class Collection {
  private readonly reflectors: ReadonlyMap<string | null, Reflector>;
  /** Settles when every namespace's first list is in, or the resource is not served there. */
  readonly ready: Promise<void>;

  constructor({ namespaces, onServed, ...options }: CollectionOptions) {
    const reflector = (namespace: string | null): Reflector =>
      new Reflector({
        ...options,
        namespace,
        ...(onServed === undefined ? {} : { onServed: (served) => onServed(served, namespace) }),
      });
    this.reflectors = new Map((namespaces ?? [null]).map((each) => [each, reflector(each)]));
    this.ready = Promise.all([...this.reflectors.values()].map(({ ready }) => ready)).then(() => undefined);
  }

  get(namespace: string, name: string): KubeObject | null {
    return this.of(namespace)?.get(namespace, name) ?? null;
  }

  /** The namespace's objects that have the label with this value, by their names. */
  labelled(namespace: string, label: string, value: string): KubeObject[] {
    return (this.of(namespace)?.labelled(label, value) ?? [])
      .filter(({ metadata }) => metadata.namespace === namespace)
      .sort(byName);
  }

  /** Of all namespaces, those that have the key of the index, by their names. */
  indexed(indexKey: string): KubeObject[] {
    return [...this.reflectors.values()].flatMap((reflector) => reflector.indexed(indexKey)).sort(byName);
  }

  *values(): Generator<KubeObject> {
    for (const reflector of this.reflectors.values()) yield* reflector.values();
  }

  remember(object: KubeObject): void {
    this.of(object.metadata.namespace ?? '')?.remember(object);
  }

  /** The longest time for which one of its watches has been away; null: all are open. */
  get interruptedMs(): number | null {
    const times = [...this.reflectors.values()].map(({ interruptedMs }) => interruptedMs);
    const known = times.filter((each) => each !== null);
    return known.length === 0 ? null : Math.max(...known);
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): void {
    for (const reflector of this.reflectors.values()) void reflector.run(signal);
  }

  private of(namespace: string): Reflector | undefined {
    return this.reflectors.get(namespace) ?? this.reflectors.get(null);
  }
}

/** Resources without a watch for so long, as `pods: 75 s`. */
export function interruptedOf(
  named: readonly (readonly [string, Pick<Collection, 'interruptedMs'>])[],
  longerThanMs: number,
): string[] {
  return named.flatMap(([name, { interruptedMs }]) =>
    interruptedMs === null || interruptedMs < longerThanMs
      ? []
      : [`${name}: ${String(Math.round(interruptedMs / 1000))} s`],
  );
}

function byName(a: KubeObject, b: KubeObject): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
