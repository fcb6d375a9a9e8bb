// One look at one service: parse → preflight → plan → apply → status. Pure parts do the thinking; this file orders
// them. Safe to stop between any two writes: the next look finds what is left to do.

import { timestamp, type LastFailure } from '@llmservice/crds';
import { applyChildren, applyObjects, pruneChildren, type ChildrenView } from '../apply/apply-children.js';
import type { Writer } from '../apply/writer.js';
import { earliest } from '../domain/earliest.js';
import type { Deployment, KubeObject } from '../kube/types.js';
import type { Observations } from './observations.js';
import { planChildren, planRoute, type ChildInputs } from '../plan/children.js';
import { planRevisions, type RevisionPlan } from '../plan/revision-plan.js';
import { planService, type ServicePlan } from '../plan/plan-service.js';
import { readRevisions, type Revision } from '../plan/rollouts/revision.js';
import type { Sleep } from '../plan/scaling/sleep.js';
import type { Preflight } from '../preflight/preflight.js';
import type { Capabilities } from './capabilities.js';
import { withPulledAhead, type PrePullController } from './pre-pull-controller.js';
import type { CanaryController } from './canary-controller.js';
import type { RolloutController } from './rollout-controller.js';
import type { SleepController } from './sleep-controller.js';
import { statusOf, type StatusWriter } from './status-writer.js';
import type { KnownClasses } from '../plan/class/known-classes.js';
import { resolveClass } from '../plan/class/resolve-class.js';
import type { WantedService } from '../domain/wanted-service.js';
import { toLastFailure } from '../status/build-status.js';
import { answer } from '../status/conditions.js';
import { heldBefore, outcomeOf } from '../status/failure-hold.js';
import type { FailureHold, Observed } from '../status/observed.js';
import { planPods } from '../status/plan-pods.js';
import { isReady } from '../status/pod-state.js';
import { unreadableBefore } from '../status/unreadable-before.js';
import { judgeRevision, type Patience } from '../status/revision-failure.js';
import type { Caches } from '../watch/caches.js';
import type { CrashLogs } from '../watch/crash-logs.js';
import type { PlacementNotes } from '../watch/placement-notes.js';
import type { PodAuthorities } from '../watch/pod-authorities.js';
import type { StreamChecks } from '../watch/stream-checks.js';

export interface ReconcilerOptions {
  readonly caches: Caches;
  readonly preflight: Pick<Preflight, 'look' | 'forget'>;
  readonly writer: Writer;
  readonly crashLogs: Pick<CrashLogs, 'read'>;
  readonly placement: Pick<PlacementNotes, 'read' | 'forget'>;
  readonly observations: Observations;
  readonly sleeps: Pick<SleepController, 'decide'>;
  readonly statuses: Pick<StatusWriter, 'announce' | 'take' | 'write'>;
  readonly capabilities: Pick<Capabilities, 'of' | 'installation'>;
  readonly operatorNamespace: string;
  readonly canaries: Pick<CanaryController, 'worse' | 'plan'>;
  readonly rollouts: Pick<RolloutController, 'decide'>;
  readonly prePulls: Pick<PrePullController, 'ensure'>;
  readonly streams: Pick<StreamChecks, 'want' | 'forget'>;
  readonly authorities: Pick<PodAuthorities, 'look' | 'forget'>;
  readonly patience: Omit<Patience, 'noProgressMs'>;
  readonly now: () => Date;
}

/** One service before anything of it is applied. */
interface Standing {
  readonly object: KubeObject;
  readonly service: WantedService;
  readonly plan: ServicePlan;
  readonly deployment: Deployment | null;
  readonly revisions: RevisionPlan;
  /** Stored revisions of it that are none. */
  readonly unreadable: readonly KubeObject[];
  readonly before: Observed;
  /** When to judge its pods again, if by time alone. */
  readonly recheckMs: number | null;
}

/** For services that name none. */
const noClasses: KnownClasses = { state: 'absent' };
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
      this.options.authorities.forget(key);
      this.options.placement.forget(key);
      return null;
    }
    const announced = await this.options.statuses.announce(object);
    const classes = namesClass(announced) ? this.options.caches.classes.known() : noClasses;
    // Once they are known the service comes here again.
    if (classes === null) return null;
    const deployment = this.options.caches.deployment(namespace, name);
    const parsed = resolveClass(announced, classes, 'cluster', deployment?.spec?.replicas ?? 0);
    if (!parsed.ok) {
      const { capabilities, observations, statuses } = this.options;
      const usable = capabilities.of(announced, { state: 'none' });
      await statuses.write(announced, observations.ofInvalid(announced, parsed, usable, this.now()));
      return null;
    }
    const seen = await this.options.statuses.take(announced, parsed.service.serviceClass);
    const { result, recheckMs } = this.options.preflight.look(
      key,
      parsed.service,
      unreadableBefore(statusOf(seen), parsed.service.generation),
    );
    // The end of the read brings the service here again.
    if (result === null) return recheckMs;
    const authority = await this.options.authorities.look(parsed.service);
    const plan = planService(parsed.service, result, this.options.capabilities.of(seen, authority));
    return earliest(
      recheckMs,
      await this.ensure(seen, parsed.service, plan),
      authority.state === 'missing' ? obstacleRetryMs : null,
    );
  }

  /** Applies the plan and writes what came of it. @returns when to look again, if by time alone */
  private async ensure(
    object: KubeObject,
    service: WantedService,
    plan: ServicePlan,
  ): Promise<number | null> {
    const standing = await this.judge(object, service, plan);
    const { target } = standing.revisions;
    return target === null || plan.obstacle?.holdsNone === true
      ? this.applyRouteAlone(standing)
      : this.applyPods(standing, target);
  }

  /** What is there and what has failed. The failure is written before the pods that reported it are stopped. */
  private async judge(object: KubeObject, service: WantedService, plan: ServicePlan): Promise<Standing> {
    const { caches, canaries, crashLogs, placement, observations, statuses } = this.options;
    const { namespace, name } = service;
    await crashLogs.read(caches.podsOf(namespace, name));
    const all = [...caches.podsOf(namespace, name), ...caches.workersOf(namespace, name)];
    const placedMs = await placement.read(service, all);
    const deployment = caches.deployment(namespace, name);
    const stored = caches.revisionsOf(namespace, name);
    const { history, unreadable } = readRevisions(stored, service, this.options.capabilities.installation);
    const revisions = planRevisions(service, plan, history, deployment);
    const revision = revisions.target?.template.revision ?? null;
    const seen = observations.of(object, service, plan, revision, this.now());
    const verdict = judgeRevision(seen, revisions.standing, this.patience(service));
    const wasHeld = heldBefore(deployment, service, revisions.attempt, seen.previous);
    const failure =
      verdict.state === 'failed'
        ? toLastFailure({ ...verdict.failure, terminal: true }, seen)
        : (wasHeld ?? canaries.worse(service, revisions, seen));
    const failureHold: FailureHold | null =
      failure === null ? null : { failure, outcome: outcomeOf(revisions, seen) };
    const canary = canaries.plan(service, revisions, seen, deployment, failureHold !== null);
    const before = { ...seen, failureHold, canary };
    const isReported = failure !== null && isSameFailure(failure, seen.previous.lastFailure);
    if (failureHold !== null && wasHeld === null && !isReported) await statuses.write(object, before);
    const recheckMs = earliest(placedMs, verdict.state === 'open' ? verdict.recheckMs : null);
    return { object, service, plan, deployment, revisions, unreadable, before, recheckMs };
  }

  /** Without pods of its own, a route has somewhere to lead by its fallback alone. */
  private async applyRouteAlone({ object, service, plan, before }: Standing): Promise<number | null> {
    const leads = before.fallback.state === 'active' || hasRoute(before);
    const routes = leads ? planRoute(service, routeInputs(plan, before)) : [];
    const refused = await applyObjects(this.options.writer, this.view(service), routes, service);
    const obstacle = plan.obstacle ?? refused;
    await this.options.statuses.write(object, { ...before, obstacle });
    return earliest(obstacle === null ? null : obstacleRetryMs, ofDemand(before));
  }

  /** Pods of the target, or of what stands in for it after a failure, with all that belongs to them. */
  private async applyPods(standing: Standing, target: Revision): Promise<number | null> {
    const { object, service, plan, deployment, revisions, unreadable, before } = standing;
    const { failureHold } = before;
    const { caches, writer, observations, sleeps, rollouts, prePulls, operatorNamespace } = this.options;
    const { sleep, activators, recheckMs } = await sleeps.decide(service, deployment, before);
    const pods = planPods(revisions, target, before, failureHold, sleep);
    const at = this.options.now();
    const rollout = await rollouts.decide(
      service,
      pods.template,
      deployment,
      [...before.pods, ...before.workers],
      at,
    );
    const wanted = planChildren(service, {
      ...pods,
      ...routeInputs(plan, before),
      adapters: isKnown(plan) ? before.adapters : null,
      operatorNamespace,
      replacement: rollout.replacement,
      activators,
      autoscaler: plan.autoscaling.state === 'planned' ? plan.autoscaling.autoscaler : null,
    });
    const view = this.view(service);
    const obstacle = await applyChildren(writer, view, wanted, target.object, service);
    const ahead = await prePulls.ensure(service, pods.template, failureHold !== null);

    const done = withPulledAhead(plan, ahead.message);
    const seen = observations.of(object, service, done, target.template.revision, this.now());
    const after = { ...asleepOr(seen, sleep), canary: before.canary };
    await this.options.statuses.write(object, { ...after, failureHold, obstacle });
    const kept = [target, ...(revisions.good === null ? [] : [revisions.good])];
    const applied = caches.deployment(service.namespace, service.name);
    await pruneChildren(
      writer,
      view,
      wanted,
      { kept, unreadable, deployment: applied, pods: after.pods, prefill: after.prefill },
      service,
    );
    return earliest(
      obstacle === null ? null : obstacleRetryMs,
      standing.recheckMs,
      rollout.recheckMs,
      ahead.recheckMs,
      recheckMs,
      after.fallback.state === 'active' ? after.fallback.recheckMs : null,
      'recheckMs' in before.canary ? before.canary.recheckMs : null,
      'recheckMs' in before.pool ? (before.pool.recheckMs ?? null) : null,
      activators === null ? this.checkStream(after) : null,
      ofDemand(seen),
    );
  }

  /** Has the public route checked once it carries requests to pods of its own. @returns when to come again */
  private checkStream(observed: Observed): number | null {
    const { routing, streaming, fallback, namespace, name, pods } = observed;
    if (routing.state !== 'planned' || streaming.state !== 'route' || fallback.state === 'active')
      return null;
    const { Routed, StreamingVerified } = answer(observed);
    if (Routed.status !== 'True' || StreamingVerified.status === 'True' || !pods.some(isReady)) return null;
    return this.options.streams.want(`${namespace}/${name}`, routing);
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

  private now(): string {
    return timestamp(this.options.now());
  }
}

function namesClass({ spec }: KubeObject): boolean {
  return (spec as { readonly className?: string } | undefined)?.className !== undefined;
}

/** Adapters of the spec were judged, or are judged by the pods. */
function isKnown({ resolution }: ServicePlan): boolean {
  return resolution.state === 'resolved' || resolution.state === 'byPods';
}

function routeInputs(
  plan: ServicePlan,
  { fallback, canary, pool }: Observed,
): Pick<ChildInputs, 'gateway' | 'fallback' | 'canary' | 'pool'> {
  return { fallback, canary, pool, gateway: plan.routing.state === 'planned' ? plan.routing.gateway : null };
}

function isSameFailure(failure: LastFailure, reported: LastFailure | null | undefined): boolean {
  if (reported === null || reported === undefined || reported.terminal !== failure.terminal) return false;
  return failure.reason === reported.reason && failure.pod === reported.pod && failure.at === reported.at;
}

function hasRoute({ httpRoute, virtualService }: Observed): boolean {
  return httpRoute !== null || virtualService !== null;
}

/** Timers of Node do not last longer than 24 days; a change of the clock is noticed sooner so, too. */
const maxRecheckMs = 6 * 3_600_000;

function ofDemand({ demand }: Observed): number | null {
  const next = earliest(demand.warmth.recheckMs, demand.spending?.recheckMs ?? null);
  return next === null ? null : Math.min(next, maxRecheckMs);
}

function asleepOr(observed: Observed, sleep: Sleep): Observed {
  return { ...observed, sleep, ...(sleep.state === 'asleep' ? { wantedReplicas: 0 } : {}) };
}
