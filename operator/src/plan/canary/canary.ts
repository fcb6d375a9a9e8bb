// What becomes of a revision that is tried beside the stable one: it gets what the steps of spec.canary say of the
// requests, then its pods become the stable ones, or it goes. Decided at each look from what is there: where it stands is
// kept in status.canary, whether it was promoted in the template of the service's own Deployment.

import { annotations, type LlmServiceSpec, type LlmServiceStatus } from '@llmservice/crds';
import type { Deployment, Pod } from '../../kube/types.js';
import type { RevisionPlan } from '../revision-plan.js';
import type { Verdict } from './analysis.js';
import { hashOf, isReadyPod, living, ofRevision } from './canary-pods.js';

export type CanarySpec = NonNullable<LlmServiceSpec['canary']>;
export type Stage = NonNullable<LlmServiceStatus['canary']>;

export type Canary =
  /** The service has none, and nothing of one is left. */
  | { readonly state: 'off' }
  /** What the spec wants is the stable revision. */
  | { readonly state: 'settled' }
  /** The stable revision stays as it is, and no canary begins yet. */
  | { readonly state: 'waiting'; readonly why: 'NoReplicas' | 'StableNotReady'; readonly stage: null }
  | {
      readonly state: 'trying';
      readonly stage: Stage;
      /** Of its pods; null: there are none yet. */
      readonly hash: string | null;
      readonly note: 'Starting' | 'NotRouted' | 'Running' | 'Paused' | 'TooFewRequests';
      /** When to look again; null: when something changes. */
      readonly recheckMs: number | null;
    }
  /**
   * Its pods become those of the service's own Deployment, which is paused until it has them, lest it ends them or starts
   * others. `seen`: its controller knows that it is paused, so that they may be given up by the canary's.
   */
  | {
      readonly state: 'promoting';
      readonly stage: Stage;
      readonly seen: boolean;
      /** How many pods there are beyond those that are wanted. */
      readonly surplus: number;
      readonly recheckMs: number;
    }
  /** No new request reaches it. `gone`: from now on its objects may go. */
  | {
      readonly state: 'leaving';
      readonly stage: Stage;
      readonly gone: boolean;
      readonly recheckMs: number;
    };

export interface CanaryInputs {
  readonly spec: CanarySpec | undefined;
  readonly revisions: Pick<RevisionPlan, 'target' | 'good' | 'standing'>;
  /** The target failed and is not tried any more. */
  readonly failed: boolean;
  /** The service's own. */
  readonly deployment: Deployment | null;
  /** The canary's. */
  readonly own: Deployment | null;
  /** Of both. */
  readonly pods: readonly Pod[];
  readonly previous: Stage | null;
  /** Of the annotation; empty: none. */
  readonly promote: string;
  readonly wantedReplicas: number;
  /** Whether a route carries its requests, as far as it is planned. */
  readonly routed: boolean;
  /** Whether a gateway took the route, and it leads to the service's own pods. */
  readonly accepted: boolean;
  /** Of the step that status.canary names. */
  readonly verdict: Verdict;
  /** RFC 3339, to the second. */
  readonly now: string;
}

/** Gateways follow a route within a second or two, and on a loaded node within ten: what a pod ends for is left this long. */
const handoverMs = 15_000;
/** The garbage collector and the Deployment's controller take a second or two to hand pods over. */
const adoptionMs = 30_000;
/** How often a route that no gateway took is read again, once a step's time is over. */
const routeRecheckMs = 5_000;
/** How often metrics are compared. */
const analysisMs = 10_000;

export function planCanary(inputs: CanaryInputs): Canary {
  const { spec, revisions, failed, deployment, own, previous } = inputs;
  const { target, standing } = revisions;
  if (spec === undefined && own === null && previous === null) return { state: 'off' };
  const isPromoted = target !== null && revisionOf(deployment) === target.template.revision;
  if (isPromoted && !failed && isHandingOver(inputs, target.template.revision)) return promoting(inputs);
  const tries = spec !== undefined && standing === 'challenger' && !failed && !isPromoted;
  if (tries && target !== null) return tried(inputs, spec, target.template.revision);
  // An ordinary rollout of what was tried, since nobody wants a canary any more: its pods are kept for it.
  if (spec === undefined && !failed && own !== null && target !== null && standing === 'challenger') {
    if (revisionOf(own) === target.template.revision) return promoting(inputs);
  }
  return leaving(inputs) ?? (spec === undefined ? { state: 'off' } : { state: 'settled' });
}

/** Whether the service's own Deployment has its template, and not yet all of its pods. */
function isHandingOver({ deployment, own, pods, previous, now }: CanaryInputs, revision: string): boolean {
  if (own !== null) return revisionOf(own) === revision;
  if (previous?.phase !== 'promoting' || deployment?.spec?.paused !== true) return false;
  const forMs = sinceMs(previous.since, now);
  if (forMs < handoverMs) return true;
  const has = deployment.status?.observedGeneration === deployment.metadata.generation;
  const adopted = has && (deployment.status?.replicas ?? 0) >= living(pods).length;
  return !adopted && forMs < adoptionMs;
}

function promoting(inputs: CanaryInputs): Canary {
  const { spec, previous, revisions, deployment, now } = inputs;
  const revision = revisions.target?.template.revision ?? '';
  const since = previous?.phase === 'promoting' ? previous.since : now;
  const steps = spec?.steps.length ?? previous?.steps ?? 0;
  const stage = { revision, step: steps, steps, weight: 100, mirrorPercent: 0, since } as const;
  const isCurrent = deployment?.status?.observedGeneration === deployment?.metadata.generation;
  const seen = deployment?.spec?.paused === true && isCurrent && revisionOf(deployment) === revision;
  const surplus = Math.max(0, living(inputs.pods).length - inputs.wantedReplicas);
  return { state: 'promoting', stage: { ...stage, phase: 'promoting' }, seen, surplus, recheckMs: 1_000 };
}

function tried(inputs: CanaryInputs, spec: CanarySpec, revision: string): Canary {
  const { revisions, own, pods, previous, now, wantedReplicas, promote, routed } = inputs;
  if (wantedReplicas === 0) return leaving(inputs) ?? { state: 'waiting', why: 'NoReplicas', stage: null };
  const stableHash = stableHashOf(inputs);
  const isAlone = living(pods).every((pod) => ofRevision(pod, revisions.good?.template.revision));
  if (stableHash === null || (own === null && previous === null && !isAlone))
    return leaving(inputs) ?? { state: 'waiting', why: 'StableNotReady', stage: null };
  const itself = living(pods).filter((pod) => ofRevision(pod, revision));
  const answering = itself.filter(isReadyPod);
  const hash = hashOf(answering) ?? hashOf(itself);
  const before = previous?.revision === revision && previous.phase !== 'leaving' ? previous : null;
  const isSkipped = promote === revision && answering.length > 0;
  const base = { revision, steps: spec.steps.length, stableHash } as const;
  const starting = (step: number, since: string): Canary => ({
    state: 'trying',
    hash,
    note: routed ? 'Starting' : 'NotRouted',
    recheckMs: null,
    stage: { ...base, phase: 'starting', step, weight: 0, mirrorPercent: 0, since },
  });
  if (isSkipped) return promoting(inputs);
  if (before === null) return starting(0, now);
  const since = before.phase === 'starting' ? before.since : now;
  // Without requests to divide its time would pass, and nothing be tried.
  if (!routed) return starting(before.step, since);
  // Its pods have to answer before it begins, and one of them for as long as it lasts.
  const needed = before.step === 0 ? spec.replicas : 1;
  if (answering.length < needed) return starting(before.step, since);
  return stepped(inputs, spec, base, before, hash);
}

function stepped(
  inputs: CanaryInputs,
  spec: CanarySpec,
  base: Pick<Stage, 'revision' | 'steps' | 'stableHash'>,
  before: Stage,
  hash: string | null,
): Canary {
  const { verdict, now } = inputs;
  const at = Math.min(Math.max(before.step, 1), spec.steps.length);
  const resumed = before.phase === 'step' && before.step === at;
  const since = resumed ? before.since : now;
  const current = spec.steps[at - 1];
  const pauseMs = current?.pauseSeconds === undefined ? null : current.pauseSeconds * 1000;
  const leftMs = pauseMs === null ? null : pauseMs - sinceMs(since, now);
  const isOver = resumed && leftMs !== null && leftMs <= 0;
  if (isOver && !inputs.accepted)
    return stepOf(spec, base, at, since, hash, 'NotRouted', routeRecheckMs / 1000);
  const judged = spec.analysis === undefined || verdict.state === 'passed';
  if (isOver && judged) {
    if (at === spec.steps.length) return promoting(inputs);
    return stepOf(spec, base, at + 1, now, hash, 'Running', spec.steps[at]?.pauseSeconds);
  }
  const note = pauseMs === null ? 'Paused' : isOver ? 'TooFewRequests' : 'Running';
  return stepOf(spec, base, at, since, hash, note, leftMs === null ? undefined : leftMs / 1000);
}

function stepOf(
  spec: CanarySpec,
  base: Pick<Stage, 'revision' | 'steps' | 'stableHash'>,
  step: number,
  since: string,
  hash: string | null,
  note: (Canary & { state: 'trying' })['note'],
  leftSeconds: number | undefined,
): Canary {
  const { weight = 0, mirrorPercent = 0 } = spec.steps[step - 1] ?? {};
  const leftMs = leftSeconds === undefined ? Infinity : Math.max(0, leftSeconds * 1000);
  const recheckMs =
    spec.analysis === undefined ? leftMs : Math.min(leftMs > 0 ? leftMs : Infinity, analysisMs);
  return {
    state: 'trying',
    hash,
    note,
    stage: { ...base, phase: 'step', step, weight, mirrorPercent, since },
    // Timers of Node do not last longer than 24 days.
    recheckMs: recheckMs === Infinity ? null : Math.min(recheckMs, 6 * 3_600_000),
  };
}

/** Null: there is nothing left of one. */
function leaving(inputs: CanaryInputs): Canary | null {
  const { own, previous, pods, revisions, now } = inputs;
  const stable = revisions.good?.template.revision;
  const strays = stable !== undefined && living(pods).some((pod) => !ofRevision(pod, stable));
  const left = previous?.phase === 'leaving';
  if (own === null && !(left && strays)) return null;
  const since = left ? previous.since : now;
  const gone = sinceMs(since, now) >= handoverMs;
  const stableHash = stableHashOf(inputs);
  return {
    state: 'leaving',
    gone,
    recheckMs: gone ? 1_000 : handoverMs,
    stage: {
      revision: previous?.revision ?? revisionOf(own) ?? '',
      phase: 'leaving',
      step: previous?.step ?? 0,
      steps: previous?.steps ?? 0,
      weight: 0,
      mirrorPercent: 0,
      since,
      ...(stableHash === null ? {} : { stableHash }),
    },
  };
}

/** Of the pods that answer; where none does, as it was. */
function stableHashOf({ pods, revisions, previous }: CanaryInputs): string | null {
  const stable = living(pods).filter((pod) => ofRevision(pod, revisions.good?.template.revision));
  return hashOf(stable.filter(isReadyPod)) ?? previous?.stableHash ?? null;
}

/** Whether the stable revision stays in the service's own Deployment, whatever the spec wants. */
export function holdsStable({ state }: Canary): boolean {
  return state === 'waiting' || state === 'trying' || state === 'leaving';
}

/** By which the Service selects the stable pods alone; null: it selects all of the service. */
export function stableHashIn(canary: Canary): string | null {
  return canary.state === 'trying' || canary.state === 'leaving' ? (canary.stage.stableHash ?? null) : null;
}

/** As status.canary has it; null: there is none. */
export function stageOf(canary: Canary): Stage | null {
  return 'stage' in canary ? canary.stage : null;
}

function revisionOf(deployment: Deployment | null): string | null {
  return deployment?.spec?.template?.metadata?.annotations?.[annotations.revision] ?? null;
}

function sinceMs(since: string, now: string): number {
  return Date.parse(now) - Date.parse(since);
}
