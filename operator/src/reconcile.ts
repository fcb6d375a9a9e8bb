// One look at one service: parse → preflight → plan → apply → status. Pure parts do the thinking; this file orders
// them. Safe to stop between any two writes: the next look finds what is left to do.

import type { LastFailure, LlmServiceStatus } from '@llmservice/crds';
import { applyChildren, pruneChildren, type ChildrenView } from './apply/apply-children.js';
import type { Writer } from './apply/writer.js';
import type { KubeObject } from './kube/types.js';
import { planAttempt, planChildren, type PlannedChildren } from './plan/children.js';
import { podSelector } from './plan/child-metadata.js';
import { contentHash } from './plan/content-hash.js';
import { schemeOf } from './plan/pod-template.js';
import { planService, type Installation, type ServicePlan, type Surroundings } from './plan/plan-service.js';
import { plannedRevision } from './plan/planned-revision.js';
import { planRouting } from './plan/routing.js';
import type { Preflight } from './preflight/preflight.js';
import { parseSpec, type ParsedSpec, type WantedService } from './spec/parse-spec.js';
import { buildStatus, pendingConditions, toLastFailure } from './status/build-status.js';
import { currentPods } from './status/conditions.js';
import { transitions } from './status/events.js';
import { haltedBefore } from './status/halt.js';
import type { Picture } from './status/picture.js';
import { isReady, podRevision, worstFailure } from './status/pod-state.js';
import type { Caches } from './watch/caches.js';
import type { CrashLogs } from './watch/crash-logs.js';
import type { LoadMonitor } from './watch/load-monitor.js';

export interface ReconcilerOptions {
  readonly caches: Caches;
  readonly preflight: Pick<Preflight, 'resolve' | 'forget'>;
  readonly writer: Writer;
  readonly loads: Pick<LoadMonitor, 'of'>;
  readonly crashLogs: Pick<CrashLogs, 'read' | 'explained'>;
  readonly surroundings: Installation;
  readonly now: () => Date;
}

/** An obstacle that may pass is tried again after this long. */
const obstacleRetryMs = 30_000;

export class Reconciler {
  constructor(private readonly options: ReconcilerOptions) {}

  /** @returns when to look again, or null where only a change is a reason */
  async reconcile(key: string): Promise<number | null> {
    const [namespace = '', name = ''] = key.split('/');
    const object = this.options.caches.llmServices.get(namespace, name);
    // Deletion comes before any look-up: owner references do the rest.
    if (object === null || object.metadata.deletionTimestamp !== undefined) {
      this.options.preflight.forget(key);
      return null;
    }
    const seen = await this.announce(object);
    const parsed = parseSpec(seen);
    if (!parsed.ok) {
      await this.writeStatus(seen, this.invalidPicture(seen, parsed));
      return null;
    }
    const { result, recheckMs } = await this.options.preflight.resolve(key, parsed.service);
    const plan = planService(parsed.service, result, this.surroundings());
    const obstacle = await this.bringAbout(seen, parsed.service, plan);
    return obstacle ? Math.min(recheckMs, obstacleRetryMs) : recheckMs;
  }

  /** A service nobody looked at yet gets all its conditions first, so that waiting for one of them can begin. */
  private async announce(object: KubeObject): Promise<KubeObject> {
    if (statusOf(object).conditions !== undefined) return object;
    const status = { conditions: pendingConditions(object.metadata.generation ?? 0, this.now()) };
    const written = await this.options.writer.writeStatus(object, status);
    this.options.caches.remember(written);
    return written;
  }

  /** Applies the plan and writes what came of it. @returns whether something stands in the way */
  private async bringAbout(object: KubeObject, service: WantedService, plan: ServicePlan): Promise<boolean> {
    const { caches, writer, crashLogs } = this.options;
    await crashLogs.read(caches.podsOf(service.namespace, service.name));
    const { groundwork } = plan;
    const deployment = caches.deployment(service.namespace, service.name);
    const attempt = groundwork === null ? null : planAttempt(service, groundwork.checkpoint.fingerprint);
    const children = (failedAttempt: string | null, replicas: number): PlannedChildren | null =>
      groundwork === null
        ? null
        : planChildren(service, {
            image: groundwork.image,
            pullImage: groundwork.pullImage,
            size: groundwork.checkpoint,
            memoryPlan: plan.fit.state === 'fits' ? plan.fit.plan : null,
            replicas,
            failedAttempt,
            gateway: plan.routing.state === 'planned' ? plan.routing.gateway : null,
          });
    const revision = children(null, 0)?.revision ?? plannedRevision(service, deployment);
    const before = this.picture(object, service, plan, revision);

    const failure = worstFailure(currentPods(before));
    const wasHalted = haltedBefore(deployment, service, attempt, before.previous);
    const halted: LastFailure | null =
      failure?.terminal === true ? toLastFailure(failure, before) : wasHalted;
    // The failure is told before the pods that told it are stopped.
    if (halted !== null && wasHalted === null) await this.writeStatus(object, { ...before, halted });

    // A bad revision must not take down pods of the one before that still answer: these keep the Deployment up.
    const olderServes = before.pods.some((pod) => isReady(pod) && podRevision(pod) !== revision);
    const wanted =
      halted === null || olderServes
        ? children(halted === null ? null : attempt, service.spec.replicas)
        : children(attempt, 0);
    if (wanted === null) {
      await this.writeStatus(this.latest(object), { ...before, halted, obstacle: plan.obstacle });
      return plan.obstacle !== null;
    }
    const view = this.view(service);
    const obstacle = (await applyChildren(writer, view, wanted, service.uid)) ?? plan.obstacle;
    await this.writeStatus(this.latest(object), {
      ...this.picture(object, service, plan, revision),
      halted,
      obstacle,
    });
    const pods = caches.podsOf(service.namespace, service.name);
    await pruneChildren(writer, view, wanted, caches.deployment(service.namespace, service.name), pods);
    return obstacle !== null;
  }

  private picture(
    object: KubeObject,
    service: WantedService,
    plan: ServicePlan,
    revision: string | null,
  ): Picture {
    const { caches, loads, crashLogs } = this.options;
    const { namespace, name } = service;
    const pods = crashLogs.explained(caches.podsOf(namespace, name));
    return {
      ...this.frame(object),
      modelName: service.modelName,
      wantedReplicas: service.spec.replicas,
      resolution: plan.resolution,
      fit: plan.fit,
      scheme: schemeOf(service),
      routing: plan.routing,
      revision,
      deployment: caches.deployment(namespace, name),
      pods,
      httpRoute: caches.httpRoute(namespace, name),
      virtualService: caches.virtualService(namespace, name),
      loads: loads.of(pods),
    };
  }

  private invalidPicture(object: KubeObject, { violations }: ParsedSpec & { ok: false }): Picture {
    const { name, namespace = '' } = object.metadata;
    const { caches } = this.options;
    const spec = object['spec'] as Partial<WantedService['spec']> | undefined;
    const routing = { provider: 'auto', ...spec?.routing };
    const known = { routing, tls: spec?.tls ?? {} } as WantedService['spec'];
    return {
      ...this.frame(object),
      modelName: spec?.model?.name ?? name,
      wantedReplicas: spec?.replicas ?? 1,
      resolution: { state: 'invalid', violations },
      fit: { state: 'unresolved' },
      scheme: schemeOf({ spec: known }),
      routing: planRouting({ spec: known }, this.surroundings()),
      revision: null,
      deployment: caches.deployment(namespace, name),
      pods: caches.podsOf(namespace, name),
      httpRoute: caches.httpRoute(namespace, name),
      virtualService: caches.virtualService(namespace, name),
      loads: new Map(),
    };
  }

  private frame(
    object: KubeObject,
  ): Pick<
    Picture,
    'namespace' | 'name' | 'generation' | 'previous' | 'now' | 'obstacle' | 'halted' | 'selector'
  > {
    const { name, namespace = '', generation = 0 } = object.metadata;
    const selector = Object.entries(podSelector({ name })).map(([key, value]) => `${key}=${value}`);
    return {
      namespace,
      name,
      generation,
      previous: statusOf(this.latest(object)),
      now: this.now(),
      obstacle: null,
      halted: null,
      selector: selector.join(','),
    };
  }

  private async writeStatus(object: KubeObject, picture: Picture): Promise<void> {
    const { caches, writer } = this.options;
    const latest = this.latest(object);
    const before = statusOf(latest);
    const after = buildStatus({ ...picture, previous: before });
    if (contentHash(before) === contentHash(after)) return;
    caches.remember(await writer.writeStatus(latest, after));
    for (const transition of transitions(before, after)) await writer.emit(latest, transition, this.now());
  }

  /** The object with the version of our own last write to it. */
  private latest(object: KubeObject): KubeObject {
    const { name, namespace = '', uid } = object.metadata;
    const known = this.options.caches.llmServices.get(namespace, name);
    return known?.metadata.uid === uid && known !== null ? known : object;
  }

  private view(service: WantedService): ChildrenView {
    const { caches } = this.options;
    return {
      live: (desired) => caches.live(desired),
      remember: (object) => caches.remember(object),
      configMaps: () => caches.configMapsOf(service.namespace, service.name),
      routes: () => caches.routes(service.namespace, service.name),
    };
  }

  private surroundings(): Surroundings {
    const { gatewayApi, istio } = this.options.caches;
    return { ...this.options.surroundings, gatewayApi, istio };
  }

  /** To the second, as Kubernetes keeps times. */
  private now(): string {
    return this.options
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }
}

function statusOf(object: KubeObject): LlmServiceStatus {
  return object['status'] ?? {};
}
