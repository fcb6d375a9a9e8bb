// Polls the /metrics of services whose canary is compared with the stable revision, and keeps what was added since its
// step began. Kept in memory alone: after a restart of the operator the comparison begins anew.

import { routes, type LlmService, type LlmServiceStatus } from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { KubeObject, Pod } from '../kube/types.js';
import { ofRevision } from '../plan/canary/canary-pods.js';
import { addedSince, noFigures, parseFigures, sumOf, type Figures } from '../plan/canary/figures.js';
import { isReady } from '../status/pod-state.js';
import { askPod, podUrl, type PodIdentity } from './ask-pod.js';
import type { Caches } from './caches.js';
import { Poller } from './poller.js';

type Stage = NonNullable<LlmServiceStatus['canary']>;

export interface CanaryMonitorOptions {
  readonly caches: Pick<Caches, 'llmServices' | 'podsOf'>;
  readonly intervalMs?: number;
  /** Where a pod's server answers; its address unless a test says otherwise. */
  readonly baseUrl?: (pod: Pod) => string | null;
  /** Null: it is not verified. */
  readonly identityOf?: (pod: Pod) => PodIdentity | null;
}

export interface Compared {
  readonly canary: Figures;
  readonly stable: Figures;
}

/** What was counted of one pod in one step. */
interface Counted {
  readonly isCanary: boolean;
  readonly last: Figures;
  readonly added: Figures;
}

interface Window {
  readonly id: string;
  /** By uid; pods that are gone stay. */
  readonly pods: Map<string, Counted>;
}

export class CanaryMonitor {
  private readonly windows = new Map<string, Window>();
  private readonly poller: Poller<KubeObject>;

  constructor(private readonly options: CanaryMonitorOptions) {
    this.poller = new Poller({
      intervalMs: options.intervalMs ?? 10_000,
      maxAtOnce: 16,
      items: () => this.services(),
      key: (service) => keyOf(service),
      each: (service) => this.look(service),
    });
  }

  start(): void {
    this.poller.start();
  }

  stop(): Promise<void> {
    return this.poller.stop();
  }

  /** What was added in the step; nothing where it was not read yet. */
  of(key: string, stage: Stage): Compared {
    const window = this.windows.get(key);
    const pods = window?.id === idOf(stage) ? [...window.pods.values()] : [];
    const sum = (isCanary: boolean): Figures =>
      sumOf(pods.filter((pod) => pod.isCanary === isCanary).map(({ added }) => added));
    return { canary: sum(true), stable: sum(false) };
  }

  private services(): readonly KubeObject[] {
    const services = [...this.options.caches.llmServices.values()].filter(isCompared);
    const keys = new Set(services.map(keyOf));
    for (const key of this.windows.keys()) if (!keys.has(key)) this.windows.delete(key);
    return services;
  }

  private async look(service: KubeObject): Promise<void> {
    const stage = (service['status'] as LlmServiceStatus | undefined)?.canary;
    if (stage === undefined) return;
    const { name, namespace = '' } = service.metadata;
    const key = keyOf(service);
    const id = idOf(stage);
    const known = this.windows.get(key);
    const window = known?.id === id ? known : { id, pods: new Map<string, Counted>() };
    this.windows.set(key, window);
    const pods = this.options.caches.podsOf(namespace, name).filter(isReady);
    await Promise.all(pods.map((pod) => this.count(pod, ofRevision(pod, stage.revision), window)));
  }

  private async count(pod: Pod, isCanary: boolean, { pods }: Window): Promise<void> {
    const { name, uid = name } = pod.metadata;
    const figures = await this.ask(pod);
    if (figures === null) return;
    const before = pods.get(uid);
    const added = before === undefined ? noFigures : sumOf([before.added, addedSince(before.last, figures)]);
    pods.set(uid, { isCanary, last: figures, added });
  }

  /** Null: it does not answer, and its next answer has what this one would have had. */
  private async ask(pod: Pod): Promise<Figures | null> {
    const base = (this.options.baseUrl ?? podUrl)(pod);
    if (base === null) return null;
    try {
      const { status, text } = await askPod(
        `${base}${routes.metrics}`,
        this.options.identityOf?.(pod) ?? null,
      );
      return status === 200 ? parseFigures(text) : null;
    } catch {
      return null;
    }
  }
}

function isCompared(service: KubeObject): boolean {
  const { spec, status } = service as unknown as LlmService;
  return status?.canary?.phase === 'step' && spec.canary?.analysis !== undefined;
}

function idOf({ revision, step, since }: Stage): string {
  return `${revision} ${step} ${since}`;
}
