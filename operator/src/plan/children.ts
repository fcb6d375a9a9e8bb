// Everything that a service consists of, as objects to apply, in the order in which they are applied.

import type { V1DeploymentSpec, V1PodDisruptionBudgetSpec } from '@kubernetes/client-node';
import { annotations, labels, type ListedAdapter } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import type { KubeObject } from '../kube/types.js';
import { stableHashIn, type Canary } from './canary/canary.js';
import { planCanaryChildren, type CanaryChildren } from './canary/canary-children.js';
import { podHashLabel } from './canary/canary-pods.js';
import { planActivatorEndpoints, type ActivatorEndpoints } from './traffic/activator-endpoints.js';
import { planAutoscaler, type Autoscaler } from './scaling/autoscaling.js';
import { childMetadata, podSelector } from './identity/child-metadata.js';
import { planBackendTlsPolicy } from './traffic/backend-tls-policy.js';
import { canaryTraffic } from './traffic/canary-traffic.js';
import { planGroupService, planLeaderWorkerSet } from './leader-worker-set.js';
import type { Fallback } from './traffic/fallback.js';
import { planEndpointPicker } from './traffic/endpoint-picker.js';
import { planHttpRoute } from './traffic/http-route.js';
import { planIstioRoute } from './traffic/istio-route.js';
import { planNetworkPolicy } from './traffic/network-policy.js';
import { hasAdapterList, planAdapterList } from './pods/adapter-list.js';
import { planClaimTemplate } from './pods/device-claim.js';
import { queueLabels } from './pods/pod-metadata.js';
import { planPrefill } from './prefill/prefill-children.js';
import { planPodService } from './pods/pod-service.js';
import type { PlannedTemplate } from './pods/planned-template.js';
import { replacements, type Replacement } from './rollouts/replacement.js';
import type { RouteGateway } from './traffic/routing.js';
import type { Pool } from './traffic/pool.js';
import type { SleepMark } from './scaling/sleep.js';
import { specHash } from './rollouts/spec-hash.js';

export interface ChildInputs {
  /** What the pods are to be: the wanted revision, or after its failure the last good one. */
  readonly template: PlannedTemplate;
  /** What pods are to serve; null: those of the spec were not judged, and the list that is there stays. */
  readonly adapters: readonly ListedAdapter[] | null;
  readonly replicas: number;
  readonly replacement: Replacement;
  /** Set on what holds the pods of a held service: the attempt that failed terminally. */
  readonly failedAttempt: string | null;
  /** Name of the revision that was Ready last. */
  readonly goodRevision: string | null;
  /** Null: no route, because none was asked for or nothing could carry it. */
  readonly gateway: RouteGateway | null;
  readonly fallback: Fallback;
  readonly pool: Pool;
  readonly canary: Canary;
  /** Of the revision that a canary tries; null: there is none. */
  readonly canaryTemplate: PlannedTemplate | null;
  /** The operator's own. */
  readonly operatorNamespace: string;
  /** Who scales it by load; null: nobody. */
  readonly autoscaler: Autoscaler | null;
  /** Null: it is awake. */
  readonly asleep: SleepMark | null;
  /** Where the activator's pods take requests of the service; else null. */
  readonly activators: ActivatorEndpoints | null;
}

export interface PlannedChildren {
  /** What pods read of adapters; null: they have no room for any. */
  readonly adapterList: KubeObject | null;
  /** False: the list that is there stays. */
  readonly adaptersJudged: boolean;
  readonly configMap: KubeObject;
  /** From which pods get the claims of their devices. */
  readonly claimTemplates: readonly KubeObject[];
  /** Before the LeaderWorkerSet, whose controller makes one of that name at once where there is none. */
  readonly groupServices: readonly KubeObject[];
  /** What holds the pods: where a replica is on several nodes, a LeaderWorkerSet in its place. */
  readonly deployment: KubeObject;
  readonly others: readonly KubeObject[];
  /** What becomes of a canary's objects that are not among the others. */
  readonly canaryLeftovers: CanaryChildren['leftovers'];
}

export function planChildren(service: WantedService, inputs: ChildInputs): PlannedChildren {
  const canary = planCanaryChildren(service, inputs.canary, inputs.canaryTemplate);
  return {
    canaryLeftovers: canary.leftovers,
    adapterList: hasAdapterList(service)
      ? planAdapterList(service, inputs.adapters ?? service.adapters)
      : null,
    adaptersJudged: inputs.adapters !== null,
    configMap: inputs.template.configMap,
    claimTemplates: [inputs.template, ...(inputs.canaryTemplate === null ? [] : [inputs.canaryTemplate])]
      .map((template) => planClaimTemplate(service, template))
      .filter((object) => object !== null),
    groupServices: planGroupService(service),
    deployment: planWorkload(service, inputs),
    others: [
      // Before a pod of a canary answers.
      planService(service, inputs.canary),
      ...canary.objects,
      planDisruptionBudget(service),
      ...planNetworkPolicy(service, inputs.operatorNamespace),
      ...planPrefill(service, inputs),
      ...(inputs.pool.state === 'planned' ? planEndpointPicker(service, inputs.pool) : []),
      ...planRoute(service, inputs),
      ...(inputs.autoscaler === null ? [] : planAutoscaler(service, inputs.autoscaler)),
      ...(inputs.activators === null ? [] : [planActivatorEndpoints(service, inputs.activators)]),
    ],
  };
}

/** The objects of its public route; none where nothing carries one. */
export function planRoute(
  service: WantedService,
  { gateway, fallback, canary, pool }: Pick<ChildInputs, 'gateway' | 'fallback' | 'canary' | 'pool'>,
): KubeObject[] {
  const { host } = service.spec.routing;
  if (gateway === null || host === undefined) return [];
  const instead = fallback.state === 'active' ? fallback : null;
  const part = instead === null ? canaryTraffic(service.name, canary) : null;
  const hasCanary = canary.state !== 'off' && canary.state !== 'settled';
  return gateway.provider === 'istio'
    ? planIstioRoute(service, host, gateway, instead, part, hasCanary)
    : [
        ...planBackendTlsPolicy(service, hasCanary),
        planHttpRoute(service, host, gateway, instead, part, pool),
      ];
}

function planWorkload(service: WantedService, inputs: ChildInputs): KubeObject {
  const notes = {
    [annotations.specHash]: specHash(service),
    ...(inputs.failedAttempt === null ? {} : { [annotations.failedAttempt]: inputs.failedAttempt }),
    ...(inputs.asleep === null ? {} : { [annotations.asleep]: JSON.stringify(inputs.asleep) }),
    ...(inputs.goodRevision === null ? {} : { [annotations.goodRevision]: inputs.goodRevision }),
  };
  return service.nodes > 1
    ? planLeaderWorkerSet(service, { ...inputs, notes })
    : planDeployment(service, inputs, notes);
}

function planDeployment(
  service: WantedService,
  inputs: ChildInputs,
  notes: Readonly<Record<string, string>>,
): KubeObject {
  // Paused, it takes a ReplicaSet over and lets it be, as long as its pods are no more than these allow.
  const handingOver =
    inputs.canary.state === 'promoting'
      ? {
          maxSurge: Math.max(1, service.spec.canary?.replicas ?? 1, inputs.canary.surplus),
          maxUnavailable: 0,
        }
      : null;
  const metadata = childMetadata(service, service.name);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...queueLabels(service) },
      annotations: { ...notes },
    },
    spec: {
      replicas: inputs.replicas,
      selector: { matchLabels: podSelector(service) },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { ...(handingOver ?? replacements[inputs.replacement]) },
      },
      ...(handingOver === null ? {} : { paused: true }),
      // An empty ReplicaSet of an earlier template would be taken for the canary's, and its pods replaced.
      revisionHistoryLimit: service.spec.canary === undefined ? 3 : 0,
      // A load may take as long as it progresses; the runtime itself gives up when it stalls.
      progressDeadlineSeconds: 2147483647,
      template: inputs.template.pod,
    } satisfies V1DeploymentSpec,
  };
}

/** While a canary is there, of the stable pods alone. */
function planService(service: WantedService, canary: Canary): KubeObject {
  const hash = stableHashIn(canary);
  return planPodService(service, service.name, hash === null ? {} : { [podHashLabel]: hash });
}

function planDisruptionBudget(service: WantedService): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: childMetadata(service, service.name),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { [labels.service]: service.name } },
    } satisfies V1PodDisruptionBudgetSpec,
  };
}
