// A checkpoint on a claim is judged by the pods, in place of a preflight: what one of them ended with has the condition and
// the reason that a preflight would have given it.

import type { FailureReason } from '@llmservice/crds';
import { no, sentences, unknown, withRemedy, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';
import { isReady, podRevision, worstFailure } from './pod-state.js';

type Judged = 'ModelResolved' | 'Fits';

/** What a preflight says of a checkpoint, and what of its memory plan. */
const reasons: Readonly<Record<Judged, readonly FailureReason[]>> = {
  ModelResolved: [
    ...(['ModelNotFound', 'CheckpointIncomplete', 'CheckpointCorrupt', 'InvalidEngineConfig'] as const),
    ...(['TokenizerMissing', 'TokenizerInvalid', 'ChatTemplateInvalid'] as const),
    ...(['UnsupportedArchitecture', 'UnsupportedQuantization', 'UnsupportedByEngine'] as const),
  ],
  Fits: ['ModelTooLarge', 'KvCacheTooSmall', 'SharedMemoryTooSmall', 'ParallelismInvalid'],
};

const good: Readonly<Record<Judged, Answer>> = {
  ModelResolved: yes('ResolvedByPods', 'The pods have read the checkpoint from the claim.'),
  Fits: yes('FitsByPods', 'The engine has planned its memory on the device; its log has the plan.'),
};

/** The copy that a person has can be planned with. */
const retry =
  'Once the claim has what is missing, set the annotation llmservice.dev/retry to have another pod look';

/** Null: the checkpoint is none of a claim. */
export function judgedByPods(observed: Observed, type: Judged): Answer | null {
  const { resolution, failureHold, previous, generation } = observed;
  if (resolution.state !== 'byPods') return null;
  const current = observed.pods.filter(
    (pod) => observed.revision !== null && podRevision(pod) === observed.revision,
  );
  if (current.some(isReady)) return good[type];
  const failure = failureHold?.failure ?? worstFailure(current);
  // What is reported of a hold is text: its reason is one of the table.
  const reason = failure?.reason as FailureReason | undefined;
  if (failure !== null && reason !== undefined && reasons[type].includes(reason)) {
    const said = withRemedy({ reason, message: failure.message });
    return no(reason, type === 'Fits' ? said : sentences(said, `${retry}.`));
  }
  const phases = current.map((pod) => observed.loads.get(pod.metadata.name)?.phase);
  if (phases.some((phase) => phase === 'load' || phase === 'warmup')) return good[type];
  const before = previous.conditions?.find((condition) => condition.type === type);
  // Asleep or restarting: nothing has said otherwise since.
  if (before?.observedGeneration === generation && before.reason === good[type].reason) return good[type];
  return unjudged(resolution.found, type);
}

/** What is said before any pod has looked. */
export function unjudged(found: string, type: Judged): Answer {
  return type === 'ModelResolved'
    ? unknown('JudgedByPods', `${found}. Pods alone can read it: the first one judges what lies there.`)
    : unknown(
        'JudgedByPods',
        'What a checkpoint on a claim takes is known once a pod has read it. llmservice plan --checkpoint FOLDER plans ' +
          'with a copy beforehand.',
      );
}
