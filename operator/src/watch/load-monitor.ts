// Asks pods that run but are not ready how far their load is. Their /health answers while loading; a pod that does
// not answer simply has no progress to show.

import { routes } from '@llmservice/crds';
import { serviceKeyOf } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import type { LoadProgress } from '../status/observed.js';
import { isReady, runtimeStatus } from '../status/pod-state.js';
import { askPod, maxHealthBytes, podUrl, type PodIdentity } from './ask-pod.js';
import { Poller } from './poller.js';

export interface LoadMonitorOptions {
  readonly pods: () => Iterable<Pod>;
  /** Called with the service's key, at most once per pod and interval, when the pod's progress changed. */
  readonly onProgress: (key: string) => void;
  /** Status is written at most this often. */
  readonly intervalMs?: number;
  /** Where a pod's server answers; its IP and port unless a test says otherwise. */
  readonly baseUrl?: (pod: Pod) => string | null;
  /** Null: it is not verified. */
  readonly identityOf?: (pod: Pod) => PodIdentity | null;
}

export class LoadMonitor {
  private readonly progress = new Map<string, LoadProgress>();
  private readonly poller: Poller<Pod>;

  constructor(private readonly options: LoadMonitorOptions) {
    this.poller = new Poller({
      intervalMs: options.intervalMs ?? 5_000,
      maxAtOnce: 64,
      items: () => this.loading(),
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

  /** Progress of the given pods, by pod name. */
  of(pods: readonly Pod[]): Map<string, LoadProgress> {
    const found = new Map<string, LoadProgress>();
    for (const pod of pods) {
      const progress = this.progress.get(pod.metadata.uid ?? '');
      if (progress !== undefined) found.set(pod.metadata.name, progress);
    }
    return found;
  }

  /** Pods to ask; the progress of others is forgotten. */
  private loading(): readonly Pod[] {
    const loading = [...this.options.pods()].filter(
      (pod) => !isReady(pod) && runtimeStatus(pod)?.state?.running !== undefined,
    );
    const uids = new Set(loading.map((pod) => pod.metadata.uid));
    for (const uid of this.progress.keys()) if (!uids.has(uid)) this.progress.delete(uid);
    return loading;
  }

  private async ask(pod: Pod): Promise<void> {
    const base = (this.options.baseUrl ?? podUrl)(pod);
    if (base === null) return;
    try {
      const identity = this.options.identityOf?.(pod) ?? null;
      const { text } = await askPod(`${base}${routes.health}`, identity, maxHealthBytes);
      const load = parseLoad(JSON.parse(text));
      const uid = pod.metadata.uid ?? '';
      if (load === null || JSON.stringify(load) === JSON.stringify(this.progress.get(uid))) return;
      this.progress.set(uid, load);
      const key = serviceKeyOf(pod);
      if (key !== null) this.options.onProgress(key);
    } catch {
      // Not up yet, or out of reach: the pod's own conditions say the rest.
    }
  }
}

/** The `load` of a /health body; anything else is null. */
function parseLoad(body: unknown): LoadProgress | null {
  const load = (body as { load?: Partial<LoadProgress> | null } | null)?.load;
  if (load === null || load === undefined) return null;
  const { phase, bytesDone, bytesTotal, bytesPerSecond, etaSeconds, warmup } = load;
  if (!isPhase(phase) || !isCount(bytesDone) || !isCount(bytesTotal)) return null;
  return {
    phase,
    bytesDone,
    bytesTotal,
    bytesPerSecond: isCount(bytesPerSecond) ? bytesPerSecond : null,
    etaSeconds: isCount(etaSeconds) ? etaSeconds : null,
    warmup:
      isCount(warmup?.done) && isCount(warmup.total) ? { done: warmup.done, total: warmup.total } : null,
  };
}

function isPhase(value: unknown): value is LoadProgress['phase'] {
  return value === 'pull' || value === 'load' || value === 'warmup';
}

/** Of a status, which holds whole numbers up to this. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
