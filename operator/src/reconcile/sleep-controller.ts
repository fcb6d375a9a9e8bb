// Puts the question whether a service sleeps together from what is seen, and who takes its requests meanwhile.

import { earliest } from '../domain/earliest.js';
import type { Deployment } from '../kube/types.js';
import type { Idleness } from '../plan/scaling/idleness.js';
import { handoverMs, needsActivator, planSleep, readSleepMark, type Sleep } from '../plan/scaling/sleep.js';
import { uncoverable } from '../plan/traffic/pod-authority.js';
import { schemeOf } from '../plan/pods/container-parts.js';
import { activatorEndpoints, type ActivatorEndpoints } from '../plan/traffic/activator-endpoints.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { Observed } from '../status/observed.js';
import { isSettled } from '../status/plan-pods.js';
import { answeringMs } from '../status/pod-state.js';
import type { Caches } from '../watch/caches.js';
import type { IdleMonitor } from '../watch/idle-monitor.js';

export interface SleepDecision {
  readonly sleep: Sleep;
  /** The endpoints of the activators that take its requests; null: there are to be none for now, its own pods do. */
  readonly activators: ActivatorEndpoints | null;
  /** When to ask again; null: when something changes. */
  readonly recheckMs: number | null;
}

export class SleepController {
  constructor(
    private readonly caches: Caches,
    private readonly idle: Pick<IdleMonitor, 'of' | 'look'>,
    /** Whether activators serve HTTPS. */
    private readonly activatorTls: boolean,
  ) {}

  async decide(
    service: WantedService,
    deployment: Deployment | null,
    observed: Observed,
  ): Promise<SleepDecision> {
    const { namespace, name } = service;
    // What answers a client of HTTPS by plain HTTP helps nobody.
    const takes = schemeOf(service) === 'http' || this.activatorTls;
    const activators = takes ? this.caches.activators() : [];
    const slice = this.caches.activatorEndpoints(namespace, name);
    const covered = slice !== null;
    const sleep = await this.plan(service, deployment, observed, activators.length, covered);
    const answering = answeringMs(observed.pods, observed.now);
    const isCovered = needsActivator({ ...observed, service }, sleep, covered, answering);
    return {
      sleep,
      activators: isCovered ? activatorEndpoints(activators, slice) : null,
      recheckMs: earliest(
        sleep.state === 'awake' ? sleep.recheckMs : null,
        isCovered && answering !== null ? handoverMs : null,
      ),
    };
  }

  private async plan(
    service: WantedService,
    deployment: Deployment | null,
    observed: Observed,
    activators: number,
    covered: boolean,
  ): Promise<Sleep> {
    const key = `${service.namespace}/${service.name}`;
    const mark = readSleepMark(deployment);
    const plan = (idleness: Idleness): Sleep =>
      planSleep({
        service,
        demand: observed.demand,
        wantedReplicas: observed.wantedReplicas,
        mark,
        settled: isSettled(observed),
        idleness,
        activators,
        uncoverable: uncoverable(service, observed.activatorAuthorities, this.activatorTls),
        covered,
        now: observed.now,
      });
    const sleep = plan(this.idle.of(key));
    // Pods that go take what runs on them along after the drain: the last look has to be from now.
    return sleep.state === 'asleep' && mark === null ? plan(await this.idle.look(key)) : sleep;
  }
}
