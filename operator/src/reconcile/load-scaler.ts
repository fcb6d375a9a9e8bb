// Scales by load where neither KEDA nor a HorizontalPodAutoscaler does: after every look at a service's metrics it asks how
// many replicas they need, and sets them as others do. Kept in memory alone: after a restart of the operator no pod goes
// before the stabilization window has passed anew.

import type { LlmServiceSpec } from '@llmservice/crds';
import type { Writer } from '../apply/writer.js';
import { hasEnded } from '../kube/has-ended.js';
import type { KubeObject, Pod } from '../kube/types.js';
import { planAutoscaling, scalingTarget, type AutoscalingCapabilities } from '../plan/scaling/autoscaling.js';
import type { Activity, Look } from '../plan/scaling/idleness.js';
import { decideReplicas, type Load, type ScalingMemory } from '../plan/scaling/scaling-decision.js';
import { wantedReplicas } from '../plan/scaling/wanted-replicas.js';
import { parseSpec } from '../resource/parse-spec.js';
import type { WantedService } from '../domain/wanted-service.js';
import { isReady } from '../status/pod-state.js';
import type { Caches } from '../watch/caches.js';

export interface LoadScalerOptions {
  readonly caches: Pick<Caches, 'llmServices' | 'podsOf'>;
  readonly writer: Pick<Writer, 'scale'>;
  readonly capabilities: () => AutoscalingCapabilities;
  readonly onError: (key: string, error: Error) => void;
}

export class LoadScaler {
  private readonly memories = new Map<string, ScalingMemory>();

  constructor(private readonly options: LoadScalerOptions) {}

  /** Of a service that is polled no more. */
  forget(key: string): void {
    this.memories.delete(key);
  }

  /** Never throws: the next look decides again. */
  async looked(key: string, look: Look): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const { caches, writer, onError } = this.options;
    const object = caches.llmServices.get(namespace, name);
    const service = object === null ? null : this.scaled(object);
    if (object === null || service === null) {
      this.memories.delete(key);
      return;
    }
    const { scaling, replicas } = service.spec;
    const rule = {
      target: scalingTarget(service.spec),
      minReplicas: scaling.minReplicas ?? 1,
      maxReplicas: scaling.maxReplicas ?? replicas,
      stabilizationMs: scaling.scaleDownStabilizationSeconds * 1000,
    };
    const starting = caches.podsOf(namespace, name).filter(isStarting).length;
    const load = loadOf(look, starting, scaling.metric);
    const memory = decideReplicas(this.memories.get(key) ?? null, load, rule, replicas, performance.now());
    this.memories.set(key, memory);
    if (memory.replicas === replicas) return;
    try {
      await writer.scale(object, memory.replicas);
    } catch (error) {
      // Nothing was set: what the next look finds as it was is nobody else's choice.
      if (this.memories.get(key) === memory) this.memories.set(key, { ...memory, replicas });
      onError(key, error as Error);
    }
  }

  /** Null: not by us. Replicas of 0 were set by somebody who means it. */
  private scaled(object: KubeObject): WantedService | null {
    const parsed = parseSpec(object);
    if (!parsed.ok || wantedReplicas(parsed.service) === 0) return null;
    const planned = planAutoscaling(parsed.service, this.options.capabilities());
    return planned.state === 'planned' && planned.autoscaler.provider === 'operator' ? parsed.service : null;
  }
}

function isStarting(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !hasEnded(pod) && !isReady(pod);
}

function loadOf(look: Look, starting: number, metric: LlmServiceSpec['scaling']['metric']): Load {
  const values = [...look.pods.values()].map((activity) => valueOf(activity, metric));
  const known = values.filter((value) => value !== null);
  return { values: known, unseen: look.unseen.length + values.length - known.length, starting };
}

function valueOf({ running, waiting, kvUsage }: Activity, metric: LlmServiceSpec['scaling']['metric']) {
  switch (metric) {
    case 'concurrency':
      return running + waiting;
    case 'queue':
      return waiting;
    case 'kvUsage':
      return kvUsage === null ? null : 100 * kvUsage;
  }
}
