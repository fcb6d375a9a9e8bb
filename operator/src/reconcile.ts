// One look at one service: parse → preflight → plan → apply → status. Pure parts do the thinking; this file orders
// them. Safe to stop between any two writes: the next look finds what is left to do.

import type { LlmServiceStatus } from '@llmservice/crds';
import { applyChildren, pruneChildren, type ChildrenView } from './apply/apply-children.js';
import type { Writer } from './apply/writer.js';
import type { Deployment, KubeObject } from './kube/types.js';
import { planChildren } from './plan/children.js';
import { podSelector } from './plan/child-metadata.js';
import { contentHash } from './plan/content-hash.js';
import { planCourse } from './plan/course.js';
import { schemeOf } from './plan/pod-template.js';
import { planService, type Installation, type ServicePlan, type Surroundings } from './plan/plan-service.js';
import { readRevisions } from './plan/revision.js';
import { planRouting } from './plan/routing.js';
import type { Idleness } from './plan/idleness.js';
import { handoverMs, needsActivator, planSleep, readSleepMark, type Sleep } from './plan/sleep.js';
import { wantedReplicas } from './plan/wanted-replicas.js';
import type { Preflight } from './preflight/preflight.js';
import type { Rollouts } from './rollouts.js';
import { parseSpec, type ParsedSpec, type WantedService } from './spec/parse-spec.js';
import { buildStatus, pendingConditions, toLastFailure } from './status/build-status.js';
import { transitions } from './status/events.js';
import { haltedBefore, outcomeOf } from './status/halt.js';
import type { Halt, Picture } from './status/picture.js';
import { answeringMs } from './status/pod-state.js';
import { isSettled, planPods } from './status/plan-pods.js';
import { judgeRevision, type Patience } from './status/revision-failure.js';
import type { Caches } from './watch/caches.js';
import type { CrashLogs } from './watch/crash-logs.js';
import type { IdleMonitor } from './watch/idle-monitor.js';
import type { LoadMonitor } from './watch/load-monitor.js';

export interface ReconcilerOptions {
  readonly caches: Caches;
  readonly preflight: Pick<Preflight, 'resolve' | 'forget'>;
  readonly writer: Writer;
  readonly loads: Pick<LoadMonitor, 'of'>;
  readonly idle: Pick<IdleMonitor, 'of' | 'look'>;
  readonly crashLogs: Pick<CrashLogs, 'read' | 'explained'>;
  readonly surroundings: Installation;
  readonly rollouts: Pick<Rollouts, 'decide'>;
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
    return earliest(recheckMs, await this.bringAbout(seen, parsed.service, plan));
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
    const { caches, writer, crashLogs } = this.options;
    const { namespace, name } = service;
    await crashLogs.read(caches.podsOf(namespace, name));
    const deployment = caches.deployment(namespace, name);
    const history = readRevisions(caches.revisionsOf(namespace, name));
    const course = planCourse(service, plan, history, deployment);
    const { target } = course;
    const before = this.picture(object, service, plan, target?.template.revision ?? null);

    const verdict = judgeRevision(before, course.standing, this.patience(service));
    const wasHalted = haltedBefore(deployment, service, course.attempt, before.previous);
    const failure =
      verdict.state === 'failed' ? toLastFailure({ ...verdict.failure, terminal: true }, before) : wasHalted;
    const halted: Halt | null = failure === null ? null : { failure, outcome: outcomeOf(course, before) };
    // The failure is told before the pods that told it are stopped.
    if (halted !== null && wasHalted === null) await this.writeStatus(object, { ...before, halted });
    // What was planned before needs no image from the operator's installation.
    const missing = target === null ? plan.obstacle : null;
    if (target === null) {
      await this.writeStatus(this.latest(object), { ...before, halted, obstacle: missing });
      return missing === null ? null : obstacleRetryMs;
    }

    const sleep = await this.planSleep({ ...before, halted }, service, deployment);
    const covered = caches.activatorEndpoints(namespace, name) !== null;
    const answering = answeringMs(before.pods, before.now);
    const activators = needsActivator(service, sleep, covered, answering) ? caches.activators() : null;
    const pods = planPods(service, course, target, before, halted, sleep);
    const rollout = await this.options.rollouts.decide(
      service,
      pods.template,
      deployment,
      before.pods,
      this.options.now(),
    );
    const wanted = planChildren(service, {
      ...pods,
      replacement: rollout.replacement,
      activators,
      gateway: plan.routing.state === 'planned' ? plan.routing.gateway : null,
    });
    const view = this.view(service);
    const obstacle = await applyChildren(writer, view, wanted, target.object, service.uid);
    const after = asleepOr(this.picture(object, service, plan, target.template.revision), sleep);
    await this.writeStatus(this.latest(object), { ...after, halted, obstacle });
    const kept = [target, ...(course.good === null ? [] : [course.good])];
    await pruneChildren(writer, view, wanted, kept, caches.deployment(namespace, name), after.pods);
    return [
      obstacle === null ? null : obstacleRetryMs,
      verdict.state === 'open' ? verdict.recheckMs : null,
      rollout.recheckMs,
      sleep.state === 'awake' ? sleep.recheckMs : null,
      activators !== null && answering !== null ? handoverMs : null,
    ].reduce(earliest);
  }

  private async planSleep(
    picture: Picture,
    service: WantedService,
    deployment: Deployment | null,
  ): Promise<Sleep> {
    const { caches, idle } = this.options;
    const { namespace, name } = service;
    const key = `${namespace}/${name}`;
    const mark = readSleepMark(deployment);
    const plan = (idleness: Idleness): Sleep =>
      planSleep({
        service,
        mark,
        settled: isSettled(picture),
        idleness,
        activators: caches.activators().length,
        covered: caches.activatorEndpoints(namespace, name) !== null,
        now: picture.now,
      });
    const sleep = plan(idle.of(key));
    // Pods that go take what runs on them along after the drain: the last look has to be from now.
    return sleep.state === 'asleep' && mark === null ? plan(await idle.look(key)) : sleep;
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
      wantedReplicas: wantedReplicas(service),
      stopped: service.spec.stop,
      sleep: { state: 'never' },
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
      stopped: false,
      sleep: { state: 'never' },
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
      revisions: () => caches.revisionsOf(service.namespace, service.name),
      configMaps: () => caches.configMapsOf(service.namespace, service.name),
      optional: () => caches.optional(service.namespace, service.name),
    };
  }

  private patience({ spec }: WantedService): Patience {
    return { ...this.options.patience, noProgressMs: spec.rollout.noProgressTimeoutSeconds * 1000 };
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

function asleepOr(picture: Picture, sleep: Sleep): Picture {
  return { ...picture, sleep, ...(sleep.state === 'asleep' ? { wantedReplicas: 0 } : {}) };
}

/** The earlier of two delays; null: never. */
function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function statusOf(object: KubeObject): LlmServiceStatus {
  return object['status'] ?? {};
}
