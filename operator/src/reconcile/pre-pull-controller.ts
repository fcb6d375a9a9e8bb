// Has weights pulled before pods come for them, and forgets Jobs of revisions and nodes that are gone.

import { applyObjects } from '../apply/apply-children.js';
import type { Writer } from '../apply/writer.js';
import { errorText } from '../kube/error-text.js';
import type { ServicePlan } from '../plan/plan-service.js';
import type { ListedDevice } from '../plan/fit/device-match.js';
import { describePrePull, planPrePull, whyNoPrePull, type CandidateNode } from '../plan/rollouts/pre-pull.js';
import type { PlannedTemplate } from '../plan/pods/planned-template.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { Caches } from '../watch/caches.js';

/** Nodes come and go without a word to the operator. */
const lookAgainMs = 5 * 60_000;
/** What was refused, or failed, is tried again after this long. */
const retryMs = 30_000;

interface PulledAhead {
  /** How far they are, and what is in their way; null: there is nothing to report. */
  readonly message: string | null;
  /** When to look again; null: when something changes. */
  readonly recheckMs: number | null;
}

interface Attempt {
  /** What stands in the way of a Job. */
  readonly refusal: string | null;
  readonly recheckMs: number;
}

export class PrePullController {
  constructor(
    private readonly caches: Pick<Caches, 'jobsOf' | 'live' | 'remember'>,
    private readonly writer: Writer,
    private readonly room: { look(): Promise<readonly CandidateNode[] | null> },
    private readonly devices: { look(): Promise<readonly ListedDevice[] | null> },
  ) {}

  /** Never fails, it only reports: pods come all the same and pull for themselves. */
  async ensure(service: WantedService, template: PlannedTemplate, isHeld: boolean): Promise<PulledAhead> {
    const { cache, namespace, name } = service;
    const isWanted = cache?.prePull === true && !isHeld;
    if (!isWanted && this.caches.jobsOf(namespace, name).length === 0)
      return { message: null, recheckMs: null };
    const { refusal, recheckMs } = await this.apply(service, template, isWanted).catch((error: unknown) =>
      refusedBy(errorText(error)),
    );
    if (!isWanted) return { message: null, recheckMs };
    const refused = refusal === null ? null : `Weights cannot be pulled ahead: ${refusal}`;
    const parts = [describePrePull(this.caches.jobsOf(namespace, name)), refused].filter(
      (each) => each !== null,
    );
    return { message: parts.length === 0 ? null : parts.join(' '), recheckMs };
  }

  private async apply(
    service: WantedService,
    template: PlannedTemplate,
    isWanted: boolean,
  ): Promise<Attempt> {
    const { accelerator, cache, namespace, name } = service;
    const present = this.caches.jobsOf(namespace, name);
    const nodes = isWanted && cache?.kind === 'hostPath' ? await this.room.look() : null;
    const asks = nodes !== null && accelerator.claim !== null;
    const devices = asks ? await this.devices.look() : null;
    const wanted = isWanted ? planPrePull(service, template, nodes, devices) : [];
    // Nodes or devices that cannot be read are no reason to forget what was done.
    if (wanted === null) {
      return { refusal: asks ? whyNoPrePull(service, template, devices) : null, recheckMs: lookAgainMs };
    }
    const namesOf = (jobs: typeof wanted): Set<string> => new Set(jobs.map(({ metadata }) => metadata.name));
    const [before, after] = [namesOf(present), namesOf(wanted)];
    const missing = wanted.filter(({ metadata }) => !before.has(metadata.name));
    const obstacle = await applyObjects(this.writer, this.caches, missing, service);
    for (const job of present) if (!after.has(job.metadata.name)) await this.writer.delete(job, service);
    return refusedBy(obstacle?.message ?? null);
  }
}

function refusedBy(refusal: string | null): Attempt {
  return { refusal, recheckMs: refusal === null ? lookAgainMs : retryMs };
}

/** The plan with how far its weights are pulled ahead, for the status. */
export function withPulledAhead(plan: ServicePlan, ahead: string | null): ServicePlan {
  const { resolution } = plan;
  if (ahead === null || resolution.state !== 'resolved') return plan;
  return { ...plan, resolution: { ...resolution, ahead } };
}
