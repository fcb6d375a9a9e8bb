// The Workloads by which Kueue holds pods: one list of a namespace for all services that wait there.

import { ApiError, type KubeClient } from '../kube/client.js';
import { collectionPath } from '../kube/resources.js';
import type { KubeObject, Pod } from '../kube/types.js';
import type { Workload } from '../status/workload-text.js';

const freshMs = 5_000;
/** The uid of the pod that a Workload stands for. */
const podLabel = 'kueue.x-k8s.io/job-uid';
/** Newer first: as Kueue serves it. */
const versions = ['v1beta2', 'v1beta1'];

/** By uid of the pod. */
type Workloads = ReadonlyMap<string, Workload>;

export class QueuedWorkloads {
  private readonly latest = new Map<
    string,
    { readonly at: number; readonly list: Promise<Workloads | null> }
  >();
  /** The version that answered last. */
  private served: string | null = null;

  constructor(
    private readonly client: Pick<KubeClient, 'list'>,
    /** Milliseconds that never run backwards. */
    private readonly now: () => number,
  ) {}

  /** Null: there is none; undefined: not known. */
  async of({ metadata }: Pod): Promise<Workload | null | undefined> {
    const list = await this.look(metadata.namespace ?? '');
    return list === null ? undefined : (list.get(metadata.uid ?? '') ?? null);
  }

  private look(namespace: string): Promise<Workloads | null> {
    const at = this.now();
    for (const [name, each] of this.latest) if (at - each.at >= freshMs) this.latest.delete(name);
    const list = this.latest.get(namespace)?.list ?? this.read(namespace);
    if (!this.latest.has(namespace)) this.latest.set(namespace, { at, list });
    return list;
  }

  private async read(namespace: string): Promise<Workloads | null> {
    const first = this.served === null ? [] : [this.served];
    for (const version of new Set([...first, ...versions])) {
      const list = await answered(() => this.list(namespace, version));
      if (list === undefined) continue;
      this.served = version;
      return list;
    }
    return null;
  }

  private async list(namespace: string, version: string): Promise<Workloads> {
    const resource = { apiVersion: `kueue.x-k8s.io/${version}`, kind: 'Workload', plural: 'workloads' };
    const path = collectionPath(resource, namespace);
    const found = new Map<string, Workload>();
    for await (const workload of this.client.list<KubeObject & Workload>(path, { labelSelector: podLabel }))
      found.set(workload.metadata.labels?.[podLabel] ?? '', workload);
    return found;
  }
}

/** Undefined: the API server refuses it, or does not serve it. */
export async function answered<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
