// Whether load scales the service: by whom, or what stands in the way. Asked only of services that are to be scaled.

import type { Autoscaling } from '../plan/scaling/autoscaling.js';
import { no, unknown, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';

type Planned = Extract<Autoscaling, { state: 'planned' }>['autoscaler']['provider'];

/** What each says of itself: the type of its condition. */
const providers = {
  keda: { kind: 'ScaledObject', type: 'Ready' },
  hpa: { kind: 'HorizontalPodAutoscaler', type: 'ScalingActive' },
} as const;

/** Null: replicas are set by hand. */
export function scalingActive(observed: Observed): Answer | null {
  const { autoscaling, wantedReplicas } = observed;
  if (autoscaling.state === 'off') return null;
  if (autoscaling.state === 'missing') return no('ProviderMissing', autoscaling.message);
  // Nobody's metrics say anything while there are no pods.
  if (wantedReplicas === 0)
    return unknown('NoPods', 'No replica is wanted, so that there is no load to report.');
  return byProvider(observed, autoscaling.autoscaler.provider);
}

function byProvider({ scraped, autoscaler }: Observed, provider: Planned): Answer {
  if (provider === 'operator') {
    return scraped.state === 'unseen'
      ? unknown('MetricsUnseen', `No pod goes meanwhile: ${scraped.message}.`)
      : yes('Operator', 'The operator scales by the metrics of the pods.');
  }
  const { kind, type } = providers[provider];
  const condition = autoscaler?.status?.conditions?.find((each) => each.type === type);
  if (autoscaler?.kind !== kind || condition === undefined) {
    return unknown('Pending', `The ${kind} has not said yet whether it works.`);
  }
  if (condition.status === 'True') return yes(kind, `A ${kind} scales by load.`);
  return no(
    condition.reason ?? 'Unknown',
    `The ${kind} does not scale: ${condition.message ?? 'no message'}.`,
  );
}
