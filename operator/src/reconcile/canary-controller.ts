// Puts the question what becomes of a canary together from what is seen, and judges it by the metrics of its pods.

import { type LastFailure } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import { canaryName } from '../kube/canary-name.js';
import { controllerUid } from '../kube/controller-uid.js';
import type { Deployment } from '../kube/types.js';
import { judgeCanary, type Verdict } from '../plan/canary/analysis.js';
import { planCanary, type Canary } from '../plan/canary/canary.js';
import type { RevisionPlan } from '../plan/revision-plan.js';
import type { Observed } from '../status/observed.js';
import type { Caches } from '../watch/caches.js';
import type { CanaryMonitor } from '../watch/canary-monitor.js';

const remedy =
  'Apply the manifest before it, or another change; to try the same once more, set the annotation llmservice.dev/retry to ' +
  'another value.';

export class CanaryController {
  constructor(
    private readonly caches: Pick<Caches, 'deployment'>,
    private readonly monitor: Pick<CanaryMonitor, 'of'>,
  ) {}

  /** Why the canary is taken back; null: it is not worse, as far as is known. */
  worse(service: WantedService, revisions: RevisionPlan, observed: Observed): LastFailure | null {
    const verdict = this.verdict(service, revisions, observed);
    if (verdict.state !== 'worse') return null;
    return {
      reason: 'CanaryWorse',
      message: `the canary answers worse than the stable revision: ${verdict.message}`,
      remedy,
      terminal: true,
      at: observed.now,
      generation: observed.generation,
    };
  }

  /** @param failed what the spec wants has failed and is not tried any more */
  plan(
    service: WantedService,
    revisions: RevisionPlan,
    observed: Observed,
    deployment: Deployment | null,
    failed: boolean,
  ): Canary {
    const { promote } = service;
    return planCanary({
      spec: service.spec.canary,
      revisions,
      failed,
      deployment,
      own: this.ownDeployment(service),
      pods: observed.pods,
      previous: observed.previous.canary ?? null,
      promote,
      routed: observed.routing.state === 'planned',
      accepted: isAccepted(observed),
      wantedReplicas: observed.wantedReplicas,
      verdict: this.verdict(service, revisions, observed),
      now: observed.now,
    });
  }

  /** Another service may have the canary's name. */
  private ownDeployment({ namespace, name, uid }: WantedService): Deployment | null {
    const found = this.caches.deployment(namespace, canaryName(name));
    return found !== null && controllerUid(found) === uid ? found : null;
  }

  private verdict(
    { namespace, name, spec }: WantedService,
    revisions: RevisionPlan,
    seen: Observed,
  ): Verdict {
    const stage = seen.previous.canary;
    const rules = spec.canary?.analysis;
    const isTried = stage?.phase === 'step' && stage.revision === revisions.target?.template.revision;
    if (stage === undefined || rules === undefined || !isTried) return { state: 'open' };
    const { canary, stable } = this.monitor.of(`${namespace}/${name}`, stage);
    return judgeCanary(rules, canary, stable, stage.weight === 100);
  }
}

/** Its gateway took the route, which leads to the service's own pods. */
function isAccepted({ fallback, previous }: Observed): boolean {
  const routed = previous.conditions?.find(({ type }) => type === 'Routed');
  return fallback.state !== 'active' && routed?.status === 'True';
}
