// Scheduled: whether the pods of this generation have their nodes; if not, what is missing.

import { gatesOf, noRoomForClaim } from '../kube/pod-wait.js';
import { resources } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { no, unknown, yes, type Answer } from './answer.js';
import type { FailureHold, Observed } from './observed.js';
import { podCondition } from './pod-state.js';
import { readRefusal } from './refusal.js';
import { rest } from './rest.js';

export function judgeScheduling(observed: Observed, pods: readonly Pod[]): Answer {
  const { obstacle, deployment } = observed;
  if (obstacle !== null) return no(obstacle.reason, obstacle.message);
  if (observed.failureHold !== null) return failureHold(observed.failureHold);
  const resting = rest(observed);
  if (resting !== null) return resting;
  const refusal = readRefusal(deployment);
  if (refusal !== null && pods.length < observed.wantedReplicas) return no(refusal.reason, refusal.message);
  if (pods.length === 0) return unknown('NoPods', noPods(observed));
  for (const pod of pods) {
    const condition = podCondition(pod, 'PodScheduled');
    if (condition?.status !== 'False') continue;
    const { reason = 'Unschedulable', message } = condition;
    if (explainedAlready.has(reason)) return no(reason, message ?? '');
    if (reason === 'SchedulingGated') return no(reason, gated(pod));
    return no(reason, unschedulable(message));
  }
  const placed = pods.every((pod) => podCondition(pod, 'PodScheduled')?.status === 'True');
  return placed
    ? yes('Scheduled', 'Every pod has its node.')
    : unknown('Scheduling', 'Pods wait for the scheduler.');
}

/** A StatefulSet has no condition that would say why the API server refuses its pods. */
function noPods({ deployment }: Observed): string {
  const none = 'No pod of this generation exists yet.';
  if (deployment?.kind !== resources.leaderWorkerSets.kind) return none;
  const { name } = deployment.metadata;
  return `${none} If it stays so, check that LWS's controller runs, and the events of the StatefulSet ${name}.`;
}

/** By reasons that are not the scheduler's (see placement-notes.ts). */
const explainedAlready: ReadonlySet<string> = new Set(['Queued', 'ClaimTemplateMissing']);

function gated(pod: Pod): string {
  return `The pod ${pod.metadata.name} waits until its scheduling gates are removed: ${gatesOf(pod).join(', ')}.`;
}

/** The scheduler's own words, and the remedy for the causes that it most often names. */
function unschedulable(message = 'the scheduler gave no cause'): string {
  const insufficient = /Insufficient ([\w./-]+)/.exec(message)?.[1]?.replace(/[.,]$/, '');
  if (insufficient !== undefined) {
    return `${message} Free ${insufficient} on a node, add a node that has it, or ask for less of it.`;
  }
  // What devices there are was added, where it could be read.
  if (message.includes('the claim selects')) return message;
  if (message.includes(noRoomForClaim)) {
    return `${message} Free devices that the claim selects, or correct it (spec.accelerator.claim).`;
  }
  const deviceClass = /device class (\S+) does not exist/.exec(message)?.[1];
  if (deviceClass !== undefined) {
    return `${message} Install the driver that brings the DeviceClass ${deviceClass}, or correct spec.accelerator.claim.deviceClassName.`;
  }
  if (message.includes('untolerated taint')) return `${message} Add the taint to spec.tolerations.`;
  if (message.includes('affinity') || message.includes('selector')) {
    return `${message} Check spec.nodeSelector and spec.affinity against the nodes' labels.`;
  }
  return `${message} Check the pods' events.`;
}

function failureHold({ failure, outcome }: FailureHold): Answer {
  return outcome === 'rolledBack'
    ? unknown('RolledBack', `This generation has no pods after its failure ${failure.reason}.`)
    : unknown('Stopped', `The pods are stopped after the terminal failure ${failure.reason}.`);
}
