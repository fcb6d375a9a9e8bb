// Asks pods for /health and keeps what each says of one thing. A pod that does not answer has nothing to show. In memory alone.

import { routes } from '@llmservice/crds';
import { serviceKeyOf } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { askPod, maxHealthBytes, podUrl, type PodIdentity } from './ask-pod.js';
import { Poller } from './poller.js';

export interface HealthMonitorOptions {
  readonly pods: () => Iterable<Pod>;
  /** Called with the service's key, at most once per pod and interval, when what the pod says changed. */
  readonly onChange: (key: string) => void;
  readonly intervalMs?: number;
  /** Where a pod's server answers; its IP and port unless a test says otherwise. */
  readonly baseUrl?: (pod: Pod) => string | null;
  /** Null: it is not verified. */
  readonly identityOf?: (pod: Pod) => PodIdentity | null;
}

export abstract class HealthMonitor<T> {
  private readonly said = new Map<string, T>();
  private readonly poller: Poller<Pod>;

  constructor(private readonly options: HealthMonitorOptions) {
    this.poller = new Poller({
      intervalMs: options.intervalMs ?? 5_000,
      maxAtOnce: 64,
      items: () => this.asked(),
      key: ({ metadata: { uid, name } }) => uid ?? name,
      each: (pod) => this.ask(pod),
    });
  }

  protected abstract isAsked(pod: Pod): boolean;
  /** Of a body that is another's word; null: nothing in it. */
  protected abstract read(body: unknown): T | null;

  start(): void {
    this.poller.start();
  }

  stop(): void {
    void this.poller.stop();
  }

  /** What the given pods said, by pod name. */
  of(pods: readonly Pod[]): Map<string, T> {
    const found = new Map<string, T>();
    for (const { metadata } of pods) {
      const said = this.said.get(metadata.uid ?? '');
      if (said !== undefined) found.set(metadata.name, said);
    }
    return found;
  }

  /** Pods to ask; what others said is forgotten. */
  private asked(): readonly Pod[] {
    const asked = [...this.options.pods()].filter((pod) => this.isAsked(pod));
    const uids = new Set(asked.map((pod) => pod.metadata.uid));
    for (const uid of this.said.keys()) if (!uids.has(uid)) this.said.delete(uid);
    return asked;
  }

  private async ask(pod: Pod): Promise<void> {
    const base = (this.options.baseUrl ?? podUrl)(pod);
    if (base === null) return;
    try {
      const identity = this.options.identityOf?.(pod) ?? null;
      const { text } = await askPod(`${base}${routes.health}`, identity, maxHealthBytes);
      const said = this.read(JSON.parse(text));
      const uid = pod.metadata.uid ?? '';
      if (said === null || JSON.stringify(said) === JSON.stringify(this.said.get(uid))) return;
      this.said.set(uid, said);
      const key = serviceKeyOf(pod);
      if (key !== null) this.options.onChange(key);
    } catch {
      // Not up yet, or out of reach: it is asked again, and its own conditions say the rest.
    }
  }
}
