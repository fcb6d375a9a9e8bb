// Where a service stands between its revisions: which one this spec and checkpoint want, and which was Ready last.

import { annotations } from '@llmservice/crds';
import type { Deployment } from '../kube/types.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { ServicePlan } from './plan-service.js';
import { planTemplate } from './pods/planned-template.js';
import { goodRevision, pinnedRevision, planRevision, type Revision } from './rollouts/revision.js';
import { planAttempt, specHash } from './rollouts/spec-hash.js';

export interface RevisionPlan {
  /** What this spec and checkpoint want; null where nothing is known of them. */
  readonly target: Revision | null;
  /** What was Ready last. */
  readonly good: Revision | null;
  /** The target's: the first ever, one that is to replace the good one, or the good one itself. */
  readonly standing: 'first' | 'challenger' | 'good';
  /** Identity of what is tried now (see planAttempt). */
  readonly attempt: string | null;
}

export function planRevisions(
  service: WantedService,
  plan: ServicePlan,
  history: readonly Revision[],
  deployment: Deployment | null,
): RevisionPlan {
  const { groundwork } = plan;
  const pinned = pinnedRevision(history, service, plan);
  const fingerprint = pinned?.fingerprint ?? plan.fingerprint;
  const attempt = fingerprint === null ? null : planAttempt(service, fingerprint);
  const planned = (): Revision | null =>
    groundwork === null
      ? null
      : planRevision(
          service,
          groundwork.checkpoint.fingerprint,
          planTemplate(service, {
            image: groundwork.image,
            pullImage: groundwork.pullImage,
            operatorImage: groundwork.operatorImage,
            size: groundwork.checkpoint,
            pins: groundwork.checkpoint.pins ?? null,
            memoryPlan: plan.fit.state === 'fits' ? plan.fit.plan : null,
          }),
          history,
        );
  // What failed is planned anew when it is tried again: perhaps the operator knows better by now.
  const target = isRetry(service, attempt, deployment) ? (planned() ?? pinned) : (pinned ?? planned());
  const good = goodRevision(history, deployment);
  return { target, good, standing: standingOf(target, good), attempt };
}

function standingOf(target: Revision | null, good: Revision | null): RevisionPlan['standing'] {
  if (good === null) return 'first';
  return target?.template.revision === good.template.revision ? 'good' : 'challenger';
}

/** Whether the same spec failed before and something else (the checkpoint, the annotation) changed since. */
function isRetry(service: WantedService, attempt: string | null, deployment: Deployment | null): boolean {
  const notes = deployment?.metadata.annotations ?? {};
  const failed = notes[annotations.failedAttempt];
  return failed !== undefined && failed !== attempt && notes[annotations.specHash] === specHash(service);
}
