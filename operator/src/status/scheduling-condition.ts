// Scheduled: whether the pods of this generation have their nodes; if not, what is missing.

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
  if (pods.length === 0) return unknown('NoPods', 'No pod of this generation exists yet.');
  for (const pod of pods) {
    const condition = podCondition(pod, 'PodScheduled');
    if (condition?.status === 'False')
      return no(condition.reason ?? 'Unschedulable', unschedulable(condition.message));
  }
  const placed = pods.every((pod) => podCondition(pod, 'PodScheduled')?.status === 'True');
  return placed
    ? yes('Scheduled', 'Every pod has its node.')
    : unknown('Scheduling', 'Pods wait for the scheduler.');
}

/** The scheduler's own words, and the remedy for the causes that it most often names. */
function unschedulable(message = 'the scheduler gave no cause'): string {
  const insufficient = /Insufficient ([\w./-]+)/.exec(message)?.[1]?.replace(/[.,]$/, '');
  if (insufficient !== undefined) {
    return `${message} Free ${insufficient} on a node, add a node that has it, or ask for less of it.`;
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
