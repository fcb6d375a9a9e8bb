// Has weights pulled before pods come for them, and forgets Jobs of revisions and nodes that are gone.

import type { Logger } from 'winston';
import { applyObjects } from './apply/apply-children.js';
import type { Writer } from './apply/writer.js';
import type { KubeObject } from './kube/types.js';
import type { ServicePlan } from './plan/plan-service.js';
import { describePrePull, planPrePull, type CandidateNode } from './plan/rollouts/pre-pull.js';
import type { PlannedTemplate } from './plan/pods/planned-template.js';
import type { WantedService } from './spec/parse-spec.js';
import type { Obstacle } from './status/picture.js';
import type { Caches } from './watch/caches.js';

/** Nodes come and go without a word to the operator. */
const lookAgainMs = 5 * 60_000;
/** A refusal may differ from try to try, by a webhook's request id for example: each is news. */
const newsMs = 1_000;

export class PrePulls {
  /** Why Jobs were not made at the last look, by service. */
  private readonly refusals = new Map<string, string>();

  constructor(
    private readonly caches: Pick<Caches, 'jobsOf' | 'live' | 'remember'>,
    private readonly writer: Writer,
    private readonly room: { look(): Promise<readonly CandidateNode[] | null> },
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Of a service that is gone. */
  forget(key: string): void {
    this.refusals.delete(key);
  }

  /** The plan with how far they are, for the status. */
  tell({ namespace, name }: WantedService, plan: ServicePlan): ServicePlan {
    const refusal = this.refusals.get(`${namespace}/${name}`);
    const refused = refusal === undefined ? null : `Weights cannot be pulled ahead: ${refusal}`;
    const told = [describePrePull(this.caches.jobsOf(namespace, name)), refused];
    const ahead = told.filter((each) => each !== null).join(' ');
    const { resolution } = plan;
    return ahead === '' || resolution.state !== 'resolved'
      ? plan
      : { ...plan, resolution: { ...resolution, ahead } };
  }

  /** @returns when to look again; null: when something changes */
  async bringAbout(
    service: WantedService,
    template: PlannedTemplate,
    isHalted: boolean,
  ): Promise<number | null> {
    const { cache, namespace, name, uid } = service;
    const key = `${namespace}/${name}`;
    const present = this.caches.jobsOf(namespace, name);
    const isWanted = cache?.prePull === true && !isHalted;
    if (!isWanted) this.forget(key);
    if (!isWanted && present.length === 0) return null;
    const nodes = isWanted && cache.kind === 'hostPath' ? await this.room.look() : null;
    const wanted = isWanted ? planPrePull(service, template, nodes) : [];
    // Nodes that cannot be read are no reason to forget what was done.
    if (wanted === null) return lookAgainMs;
    const isThere = (job: KubeObject): boolean =>
      present.some(({ metadata }) => metadata.name === job.metadata.name);
    const missing = wanted.filter((job) => !isThere(job));
    const obstacle = await applyObjects(this.writer, this.caches, missing, uid);
    const isNews = this.note(key, obstacle);
    for (const job of present) {
      if (!wanted.some(({ metadata }) => metadata.name === job.metadata.name)) await this.writer.delete(job);
    }
    if (!isWanted) return null;
    // The status tells it at the next look.
    return isNews ? newsMs : lookAgainMs;
  }

  /**
   * Told and logged only: pods come all the same and pull for themselves.
   * @returns whether it is another one than before
   */
  private note(key: string, obstacle: Obstacle | null): boolean {
    if (this.refusals.get(key) === obstacle?.message) return false;
    if (obstacle === null) return this.refusals.delete(key);
    const { reason, message } = obstacle;
    this.refusals.set(key, message);
    this.logger.warn('weights cannot be pulled ahead', { service: key, reason, error: message });
    return true;
  }
}
