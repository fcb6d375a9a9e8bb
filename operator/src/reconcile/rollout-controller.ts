// Puts the question how pods are replaced together from what is seen, and has the nodes checked where it is open.

import { annotations } from '@llmservice/crds';
import { hasEnded } from '../kube/has-ended.js';
import type { Deployment, Pod } from '../kube/types.js';
import type { ListedDevice } from '../plan/fit/device-match.js';
import { claimAnnotations } from '../plan/pods/device-claim.js';
import type { PlannedTemplate } from '../plan/pods/planned-template.js';
import { replacementOf, type Replacement } from '../plan/rollouts/replacement.js';
import { decideRollout, reviewRollout, type NodeRoom, type Rollout } from '../plan/rollouts/rollout.js';
import type { DeviceMatch, WantedService } from '../domain/wanted-service.js';
import { podCondition, podRevision } from '../status/pod-state.js';
import { readRefusal } from '../status/refusal.js';

export interface RolloutDecision {
  readonly replacement: Replacement;
  /** When to ask again; null: when something changes. */
  readonly recheckMs: number | null;
}

export class RolloutController {
  constructor(
    private readonly room: { look(): Promise<readonly NodeRoom[] | null> },
    private readonly devices: { look(): Promise<readonly ListedDevice[] | null> },
    private readonly patienceMs: number,
  ) {}

  async decide(
    service: WantedService,
    template: PlannedTemplate,
    deployment: Deployment | null,
    pods: readonly Pod[],
    now: Date,
  ): Promise<RolloutDecision> {
    const rollout: Rollout = {
      groupSize: service.nodes,
      strategy: service.spec.rollout.strategy,
      current: replacementOf(deployment),
      changing:
        deployment?.spec?.template?.metadata?.annotations?.[annotations.revision] !== template.revision,
      pod: template.pod.spec,
      metadata: template.pod.metadata,
      match: matchOf(service, template),
      oldPods: pods.filter((pod) => podRevision(pod) !== template.revision && holdsNode(pod)),
      unschedulable: longestWait(pods, template.revision, now) ?? quotaWait(deployment, now),
    };
    const review = reviewRollout(rollout, this.patienceMs);
    if (review.state === 'settled') return review;
    const devices = rollout.match === null ? null : await this.devices.look();
    const replacement = decideRollout(rollout, await this.room.look(), devices);
    const observing = replacement === 'surge' && !rollout.changing;
    return { replacement, recheckMs: observing ? this.patienceMs : null };
  }
}

/** Null for a template that is gone back to and asks for other devices than the spec. */
function matchOf(service: WantedService, { pod }: PlannedTemplate): DeviceMatch | null {
  const { claim } = service.accelerator;
  const asked = claimAnnotations(service)[annotations.deviceRequest];
  const isSame = asked !== undefined && asked === pod.metadata.annotations?.[annotations.deviceRequest];
  return claim?.state === 'planned' && isSame ? claim.match : null;
}

function holdsNode(pod: Pod): boolean {
  const { metadata, spec } = pod;
  return metadata.deletionTimestamp === undefined && spec?.nodeName !== undefined && !hasEnded(pod);
}

/** A pod for which a quota has no room is not even made; an old one that goes makes room as on a node. */
function quotaWait(deployment: Deployment | null, now: Date): Rollout['unschedulable'] {
  const refusal = readRefusal(deployment);
  if (refusal === null || refusal.short.length === 0) return null;
  return {
    message: refusal.short.map((resource) => `Insufficient ${resource}`).join(', '),
    forMs: now.getTime() - Date.parse(refusal.since ?? now.toISOString()),
  };
}

/** For room on a node, or in a queue. */
const waitReasons: ReadonlySet<string> = new Set(['Unschedulable', 'Queued']);

function longestWait(pods: readonly Pod[], revision: string, now: Date): Rollout['unschedulable'] {
  const waits = pods
    .filter((pod) => podRevision(pod) === revision && pod.metadata.deletionTimestamp === undefined)
    .map((pod) => podCondition(pod, 'PodScheduled'))
    .filter((condition) => condition?.status === 'False' && waitReasons.has(condition.reason ?? ''))
    .map((condition) => ({
      message: condition?.message ?? '',
      forMs: now.getTime() - Date.parse(condition?.lastTransitionTime ?? now.toISOString()),
    }));
  return waits.sort((a, b) => b.forMs - a.forMs)[0] ?? null;
}
