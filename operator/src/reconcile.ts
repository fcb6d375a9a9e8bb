// One look at one service: parse → preflight → plan → apply → status. Pure parts do the thinking; this file orders
// them. Safe to stop between any two writes: the next look finds what is left to do.

import { timestamp, type LlmServiceStatus } from '@llmservice/crds';
import { applyChildren, applyObjects, pruneChildren, type ChildrenView } from './apply/apply-children.js';
import type { Writer } from './apply/writer.js';
import { earliest } from './earliest.js';
import type { KubeObject } from './kube/types.js';
import type { Pictures } from './pictures.js';
import { planChildren, planRoute } from './plan/children.js';
import { contentHash } from './plan/content-hash.js';
import { planCourse } from './plan/course.js';
import { planService, type Installation, type ServicePlan, type Surroundings } from './plan/plan-service.js';
import { readRevisions } from './plan/revision.js';
import type { Sleep } from './plan/sleep.js';
import type { Preflight } from './preflight/preflight.js';
import type { PrePulls } from './pre-pulls.js';
import type { Rollouts } from './rollouts.js';
import type { Sleeps } from './sleeps.js';
import { parseSpec, type WantedService } from './spec/parse-spec.js';
import { buildStatus, pendingConditions, toLastFailure } from './status/build-status.js';
import { answer } from './status/conditions.js';
import { transitions } from './status/events.js';
import { haltedBefore, outcomeOf } from './status/halt.js';
import type { Halt, Picture } from './status/picture.js';
import { planPods } from './status/plan-pods.js';
import { isReady } from './status/pod-state.js';
import { judgeRevision, type Patience } from './status/revision-failure.js';
import type { Caches } from './watch/caches.js';
import type { CrashLogs } from './watch/crash-logs.js';
import type { MetricsApi } from './watch/metrics-api.js';
import type { StreamChecks } from './watch/stream-checks.js';

export interface ReconcilerOptions {
  readonly caches: Caches;
  readonly preflight: Pick<Preflight, 'resolve' | 'forget'>;
  readonly writer: Writer;
  readonly crashLogs: Pick<CrashLogs, 'read'>;
  readonly pictures: Pictures;
  readonly sleeps: Pick<Sleeps, 'decide'>;
  readonly surroundings: Installation;
  readonly operatorNamespace: string;
  readonly metricsApi: Pick<MetricsApi, 'served'>;
  readonly rollouts: Pick<Rollouts, 'decide'>;
  readonly prePulls: Pick<PrePulls, 'bringAbout' | 'tell'>;
  readonly streams: Pick<StreamChecks, 'want' | 'forget'>;
  readonly patience: Omit<Patience, 'noProgressMs'>;
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
      this.options.streams.forget(key);
      return null;
    }
    const seen = await this.announce(object);
    const parsed = parseSpec(seen);
    if (!parsed.ok) {
      await this.writeStatus(
        seen,
        this.options.pictures.ofInvalid(seen, parsed, this.surroundings(), this.now()),
      );
      return null;
    }
    const { result, recheckMs } = await this.options.preflight.resolve(key, parsed.service);
    const plan = planService(parsed.service, result, this.surroundings());
    const told = this.options.prePulls.tell(parsed.service, plan);
    return earliest(recheckMs, await this.bringAbout(seen, parsed.service, told));
  }

  /** A service nobody looked at yet gets all its conditions first, so that waiting for one of them can begin. */
  private async announce(object: KubeObject): Promise<KubeObject> {
    if (statusOf(object).conditions !== undefined) return object;
    const status = { conditions: pendingConditions(object.metadata.generation ?? 0, this.now()) };
    const written = await this.options.writer.writeStatus(object, status);
    this.options.caches.remember(written);
    return written;
  }

  /** Applies the plan and writes what came of it. @returns when to look again, if by time alone */
  private async bringAbout(
    object: KubeObject,
    service: WantedService,
    plan: ServicePlan,
  ): Promise<number | null> {
    const { caches, writer, crashLogs, pictures, sleeps } = this.options;
    const { namespace, name } = service;
    await crashLogs.read(caches.podsOf(namespace, name));
    const deployment = caches.deployment(namespace, name);
    const history = readRevisions(caches.revisionsOf(namespace, name));
    const course = planCourse(service, plan, history, deployment);
    const { target } = course;
    const before = pictures.of(object, service, plan, target?.template.revision ?? null, this.now());

    const verdict = judgeRevision(before, course.standing, this.patience(service));
    const wasHalted = haltedBefore(deployment, service, course.attempt, before.previous);
    const failure =
      verdict.state === 'failed' ? toLastFailure({ ...verdict.failure, terminal: true }, before) : wasHalted;
    const halted: Halt | null = failure === null ? null : { failure, outcome: outcomeOf(course, before) };
    // The failure is told before the pods that told it are stopped.
    if (halted !== null && wasHalted === null) await this.writeStatus(object, { ...before, halted });
    const { fallback } = before;
    const route = { fallback, gateway: plan.routing.state === 'planned' ? plan.routing.gateway : null };
    const view = this.view(service);
    // What was planned before needs no image from the operator's installation.
    if (target === null) {
      // Without pods of its own, a route has somewhere to lead by its fallback alone.
      const routes = fallback.state === 'active' || hasRoute(before) ? planRoute(service, route) : [];
      const refused = await applyObjects(writer, view, routes, service.uid);
      const obstacle = plan.obstacle ?? refused;
      await this.writeStatus(object, { ...before, halted, obstacle });
      return earliest(obstacle === null ? null : obstacleRetryMs, ofDemand(before));
    }

    const { sleep, activators, recheckMs } = await sleeps.decide(service, deployment, { ...before, halted });
    const pods = planPods(course, target, before, halted, sleep);
    const rollout = await this.options.rollouts.decide(
      service,
      pods.template,
      deployment,
      before.pods,
      this.options.now(),
    );
    const wanted = planChildren(service, {
      ...pods,
      ...route,
      operatorNamespace: this.options.operatorNamespace,
      replacement: rollout.replacement,
      activators,
      autoscaler: plan.autoscaling.state === 'planned' ? plan.autoscaling.autoscaler : null,
    });
    const obstacle = await applyChildren(writer, view, wanted, target.object, service.uid);
    const aheadMs = await this.options.prePulls.bringAbout(service, pods.template, halted !== null);
    const seen = pictures.of(object, service, plan, target.template.revision, this.now());
    const after = asleepOr(seen, sleep);
    await this.writeStatus(object, { ...after, halted, obstacle });
    const kept = [target, ...(course.good === null ? [] : [course.good])];
    await pruneChildren(writer, view, wanted, kept, caches.deployment(namespace, name), after.pods);
    return earliest(
      obstacle === null ? null : obstacleRetryMs,
      verdict.state === 'open' ? verdict.recheckMs : null,
      rollout.recheckMs,
      aheadMs,
      recheckMs,
      after.fallback.state === 'active' ? after.fallback.recheckMs : null,
      activators === null ? this.checkStream(after) : null,
      ofDemand(seen),
    );
  }

  /** Has the public route checked once it carries requests to pods of its own. @returns when to come again */
  private checkStream(picture: Picture): number | null {
    const { routing, streaming, fallback, namespace, name, pods } = picture;
    if (routing.state !== 'planned' || streaming.state !== 'route' || fallback.state === 'active')
      return null;
    const { Routed, StreamingVerified } = answer(picture);
    if (Routed.status !== 'True' || StreamingVerified.status === 'True' || !pods.some(isReady)) return null;
    return this.options.streams.want(`${namespace}/${name}`, routing);
  }

  private async writeStatus(object: KubeObject, picture: Picture): Promise<void> {
    const { caches, writer } = this.options;
    const latest = caches.latest(object);
    const before = statusOf(latest);
    const after = buildStatus({ ...picture, previous: before });
    if (contentHash(before) === contentHash(after)) return;
    caches.remember(await writer.writeStatus(latest, after));
    for (const transition of transitions(before, after)) await writer.emit(latest, transition, this.now());
  }

  private view(service: WantedService): ChildrenView {
    const { caches } = this.options;
    return {
      live: (desired) => caches.live(desired),
      remember: (object) => caches.remember(object),
      revisions: () => caches.revisionsOf(service.namespace, service.name),
      configMaps: () => caches.configMapsOf(service.namespace, service.name),
      optional: () => caches.optional(service.namespace, service.name),
    };
  }

  private patience({ spec }: WantedService): Patience {
    return { ...this.options.patience, noProgressMs: spec.rollout.noProgressTimeoutSeconds * 1000 };
  }

  surroundings(): Surroundings {
    const { gatewayApi, istio, keda } = this.options.caches;
    const customMetrics = this.options.metricsApi.served;
    return { ...this.options.surroundings, gatewayApi, istio, keda, customMetrics };
  }

  private now(): string {
    return timestamp(this.options.now());
  }
}

function hasRoute({ httpRoute, virtualService }: Picture): boolean {
  return httpRoute !== null || virtualService !== null;
}

/** Timers of Node do not last longer than 24 days; a change of the clock is noticed sooner so, too. */
const mostRecheckMs = 6 * 3_600_000;

function ofDemand({ demand }: Picture): number | null {
  const next = earliest(demand.warmth.recheckMs, demand.spending?.recheckMs ?? null);
  return next === null ? null : Math.min(next, mostRecheckMs);
}

function asleepOr(picture: Picture, sleep: Sleep): Picture {
  return { ...picture, sleep, ...(sleep.state === 'asleep' ? { wantedReplicas: 0 } : {}) };
}

function statusOf(object: KubeObject): LlmServiceStatus {
  return object['status'] ?? {};
}
