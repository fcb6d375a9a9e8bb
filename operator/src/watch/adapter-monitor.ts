// Asks ready pods of services with adapters which of the list they have loaded. Kept in memory alone.

import { routes, type AdapterReport, type LlmService } from '@llmservice/crds';
import { serviceKeyOf } from '../kube/resources.js';
import type { KubeObject, Pod } from '../kube/types.js';
import { isReady } from '../status/pod-state.js';
import { askPod, maxHealthBytes, podUrl } from './ask-pod.js';
import type { Caches } from './caches.js';
import type { LoadMonitorOptions } from './load-monitor.js';
import { Poller } from './poller.js';

export interface AdapterMonitorOptions extends Pick<
  LoadMonitorOptions,
  'intervalMs' | 'baseUrl' | 'identityOf'
> {
  /** Of services with adapters. */
  readonly pods: () => Iterable<Pod>;
  /** Called with the service's key when what a pod has loaded changed. */
  readonly onChange: (key: string) => void;
}

/** As many as an engine takes. */
const maxAdapters = 256;

export class AdapterMonitor {
  private readonly reports = new Map<string, AdapterReport>();
  private readonly poller: Poller<Pod>;

  constructor(private readonly options: AdapterMonitorOptions) {
    this.poller = new Poller({
      intervalMs: options.intervalMs ?? 5_000,
      maxAtOnce: 64,
      items: () => this.ready(),
      key: ({ metadata: { uid, name } }) => uid ?? name,
      each: (pod) => this.ask(pod),
    });
  }

  start(): void {
    this.poller.start();
  }

  stop(): void {
    void this.poller.stop();
  }

  /** What the given pods reported, by pod name. */
  of(pods: readonly Pod[]): Map<string, AdapterReport> {
    const found = new Map<string, AdapterReport>();
    for (const { metadata } of pods) {
      const report = this.reports.get(metadata.uid ?? '');
      if (report !== undefined) found.set(metadata.name, report);
    }
    return found;
  }

  /** Pods to ask; what others reported is forgotten. */
  private ready(): readonly Pod[] {
    const ready = [...this.options.pods()].filter(isReady);
    const uids = new Set(ready.map((pod) => pod.metadata.uid));
    for (const uid of this.reports.keys()) if (!uids.has(uid)) this.reports.delete(uid);
    return ready;
  }

  private async ask(pod: Pod): Promise<void> {
    const base = (this.options.baseUrl ?? podUrl)(pod);
    if (base === null) return;
    try {
      const identity = this.options.identityOf?.(pod) ?? null;
      const { text } = await askPod(`${base}${routes.health}`, identity, maxHealthBytes);
      const report = parseReport(JSON.parse(text));
      const uid = pod.metadata.uid ?? '';
      if (report === null || JSON.stringify(report) === JSON.stringify(this.reports.get(uid))) return;
      this.reports.set(uid, report);
      const key = serviceKeyOf(pod);
      if (key !== null) this.options.onChange(key);
    } catch {
      // It is asked again.
    }
  }
}

/** Pods of services that have adapters. */
export function podsWithAdapters(caches: Pick<Caches, 'llmServices' | 'podsOf'>): Pod[] {
  const services = [...caches.llmServices.values()] as (LlmService & KubeObject)[];
  return services
    .filter(({ spec }) => (spec.adapters ?? []).length > 0)
    .flatMap(({ metadata: { name, namespace = '' } }) => caches.podsOf(namespace, name));
}

/** The `adapters` of a /health body; anything else is null. */
function parseReport(body: unknown): AdapterReport | null {
  const report = (body as { adapters?: Partial<AdapterReport> | null } | null)?.adapters;
  const { list, loaded, failed } = report ?? {};
  if (typeof list !== 'string' || !arePlaces(loaded) || !arePlaces(failed)) return null;
  return { list: list.slice(0, 64), loaded, failed };
}

function arePlaces(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length <= maxAdapters && value.every(Number.isSafeInteger);
}
