// Polls the /metrics of services that may fall asleep or are scaled by load, all their ready pods, in turns. Kept in
// memory alone: after a restart of the operator every service counts as asked just now.

import { routes } from '@llmservice/crds';
import type { Pod } from '../kube/types.js';
import {
  idlenessAt,
  parseActivity,
  watch,
  type Activity,
  type Idleness,
  type Look,
  type Watched,
} from '../plan/scaling/idleness.js';
import { isReady } from '../status/pod-state.js';
import { askPod, podUrl, type PodIdentity } from './ask-pod.js';
import { Poller } from './poller.js';

export interface IdleMonitorOptions {
  /** Services to poll, by key, with their pods. */
  readonly services: () => ReadonlyMap<string, readonly Pod[]>;
  /** Called when a service began or ceased to be idle, or can no more be seen. */
  readonly onChange: (key: string) => void;
  /** Called with what was seen of a service, at every turn. Never throws. */
  readonly onLook: (key: string, look: Look) => Promise<void>;
  /** Called when a service is polled no more. */
  readonly onGone: (key: string) => void;
  readonly intervalMs?: number;
  /** Where a pod's server answers; its address unless a test says otherwise. */
  readonly baseUrl?: (pod: Pod) => string | null;
  /** Null: it is not verified. */
  readonly identityOf?: (pod: Pod) => PodIdentity | null;
}

export class IdleMonitor {
  private watched = new Map<string, Watched>();
  private readonly poller: Poller<readonly [key: string, pods: readonly Pod[]]>;

  constructor(private readonly options: IdleMonitorOptions) {
    this.poller = new Poller({
      intervalMs: options.intervalMs ?? 10_000,
      maxAtOnce: 32,
      items: () => this.services(),
      key: ([key]) => key,
      each: ([key, pods]) => this.turn(key, pods),
    });
  }

  start(): void {
    this.poller.start();
  }

  /** Looks no more; waits for the looks that are under way, and for what was done about them. */
  stop(): Promise<void> {
    return this.poller.stop();
  }

  of(key: string): Idleness {
    return idlenessAt(this.watched.get(key) ?? { state: 'unknown' }, performance.now());
  }

  /** Looks now: what was idle at the last turn may be asked something by now. */
  async look(key: string): Promise<Idleness> {
    await this.turn(key, this.options.services().get(key) ?? []);
    return this.of(key);
  }

  /** Services to poll; what was seen of others is forgotten. */
  private services(): readonly (readonly [key: string, pods: readonly Pod[]])[] {
    const services = [...this.options.services()];
    const keys = new Set(services.map(([key]) => key));
    for (const key of this.watched.keys()) {
      if (keys.has(key)) continue;
      this.watched.delete(key);
      this.options.onGone(key);
    }
    return services;
  }

  private async turn(key: string, pods: readonly Pod[]): Promise<void> {
    const look = await this.lookAt(pods.filter(isReady));
    const before = this.watched.get(key) ?? { state: 'unknown' };
    const after = watch(before, look, performance.now());
    this.watched.set(key, after);
    if (before.state !== after.state) this.options.onChange(key);
    await this.options.onLook(key, look);
  }

  private async lookAt(pods: readonly Pod[]): Promise<Look> {
    const answers = await Promise.all(pods.map(async (pod) => ({ pod, activity: await this.ask(pod) })));
    const seen = new Map<string, Activity>();
    const unseen: string[] = [];
    for (const { pod, activity } of answers) {
      const { name, uid = name } = pod.metadata;
      if (typeof activity === 'string') unseen.push(`pod ${name} ${activity}`);
      else seen.set(uid, activity);
    }
    return { pods: seen, unseen };
  }

  /** @returns a text: what is wrong with it */
  private async ask(pod: Pod): Promise<Activity | string> {
    const base = (this.options.baseUrl ?? podUrl)(pod);
    if (base === null) return 'has no address';
    try {
      const identity = this.options.identityOf?.(pod) ?? null;
      const { status, text } = await askPod(`${base}${routes.metrics}`, identity);
      if (status !== 200) return `answers ${routes.metrics} with ${String(status)}`;
      return parseActivity(text) ?? `does not report at ${routes.metrics} what runs`;
    } catch {
      return `does not answer at ${routes.metrics}`;
    }
  }
}
