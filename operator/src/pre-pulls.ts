// Has weights pulled before pods come for them, and forgets Jobs of revisions and nodes that are gone.

import { applyObjects } from './apply/apply-children.js';
import type { Writer } from './apply/writer.js';
import type { KubeObject } from './kube/types.js';
import type { ServicePlan } from './plan/plan-service.js';
import { describePrePull, planPrePull, type CandidateNode } from './plan/rollouts/pre-pull.js';
import type { PlannedTemplate } from './plan/pods/planned-template.js';
import type { WantedService } from './spec/parse-spec.js';
import type { Caches } from './watch/caches.js';

/** Nodes come and go without a word to the operator. */
const lookAgainMs = 5 * 60_000;

export class PrePulls {
  constructor(
    private readonly caches: Pick<Caches, 'jobsOf' | 'live' | 'remember'>,
    private readonly writer: Writer,
    private readonly room: { look(): Promise<readonly CandidateNode[] | null> },
  ) {}

  /** The plan with how far they are, for the status. */
  tell({ namespace, name }: WantedService, plan: ServicePlan): ServicePlan {
    const ahead = describePrePull(this.caches.jobsOf(namespace, name));
    const { resolution } = plan;
    return ahead === null || resolution.state !== 'resolved'
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
    const present = this.caches.jobsOf(namespace, name);
    const isWanted = cache?.prePull === true && !isHalted;
    if (!isWanted && present.length === 0) return null;
    const nodes = isWanted && cache.kind === 'hostPath' ? await this.room.look() : null;
    const wanted = isWanted ? planPrePull(service, template, nodes) : [];
    // Nodes that cannot be read are no reason to forget what was done.
    if (wanted === null) return lookAgainMs;
    const isThere = (job: KubeObject): boolean =>
      present.some(({ metadata }) => metadata.name === job.metadata.name);
    const missing = wanted.filter((job) => !isThere(job));
    await applyObjects(this.writer, this.caches, missing, uid);
    for (const job of present) {
      if (!wanted.some(({ metadata }) => metadata.name === job.metadata.name)) await this.writer.delete(job);
    }
    return isWanted ? lookAgainMs : null;
  }
}
