// CanaryPassing: where a revision stands that is tried beside the stable one. Only of services with a canary.

import type { Canary } from '../plan/canary/canary.js';
import { no, sentences, unknown, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';

/** Null: it has no canary. */
export function canaryPassing(observed: Observed): Answer | null {
  const { canary, failureHold } = observed;
  if (canary.state === 'off') return null;
  if (failureHold?.outcome === 'rolledBack') {
    const { reason, message, remedy } = failureHold.failure;
    return no(reason, sentences(`It was taken back: ${message}`, remedy));
  }
  return describeCanary(canary, observed.name);
}

/** While something else than what the spec wants is the stable revision. */
export function canaryUnderWay(observed: Observed): string | null {
  const { canary, name } = observed;
  if (canary.state === 'off' || canary.state === 'settled' || canary.state === 'leaving') return null;
  return describeCanary(canary, name).message;
}

function describeCanary(canary: Exclude<Canary, { state: 'off' }>, name: string): Answer {
  switch (canary.state) {
    case 'settled':
      return yes('NoCanary', 'The stable revision is what the spec wants.');
    case 'waiting':
      return canary.why === 'NoReplicas'
        ? unknown('NoReplicas', 'No pods are wanted; the canary begins once there are some.')
        : unknown(
            'StableNotReady',
            'The canary begins once the pods of the stable revision answer. If this change is what mends them, remove spec.canary.',
          );
    case 'promoting':
      return yes('Promoting', `Revision ${canary.stage.revision} becomes the stable one, with its pods.`);
    case 'leaving':
      return unknown('Leaving', `Revision ${canary.stage.revision} gets no new requests, and goes.`);
    case 'trying':
      return describeTrial(canary, name);
  }
}

function describeTrial({ stage, note }: Canary & { state: 'trying' }, name: string): Answer {
  const { revision, step, steps, weight, mirrorPercent } = stage;
  if (note === 'Starting') {
    return unknown(
      'Starting',
      `Revision ${revision} starts beside the stable one; no request reaches it yet.`,
    );
  }
  if (note === 'NotRouted') {
    return unknown('NotRouted', `Revision ${revision} has no route whose requests it could get: see Routed.`);
  }
  const mirrored = mirrorPercent === 0 ? '' : ` and gets copies of ${mirrorPercent} %`;
  const where = `Revision ${revision} answers ${weight} % of the requests${mirrored}: step ${step} of ${steps}.`;
  if (note === 'Running') return yes('Step', where);
  if (note === 'TooFewRequests') {
    return unknown(
      'TooFewRequests',
      `${where} Its time is over, but too few requests came to compare it by.`,
    );
  }
  return yes(
    'Paused',
    `${where} It stays until it is promoted: kubectl annotate llm ${name} --overwrite llmservice.dev/promote=${revision}`,
  );
}
