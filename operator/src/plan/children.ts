// Everything that a service consists of, as objects to apply, in the order in which they are applied.

import type { V1DeploymentSpec, V1PodDisruptionBudgetSpec, V1ServiceSpec } from '@kubernetes/client-node';
import { annotations, labels, type ListedAdapter } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import type { KubeObject } from '../kube/types.js';
import { planActivatorEndpoints, type ActivatorEndpoints } from './traffic/activator-endpoints.js';
import { planAutoscaler, type Autoscaler } from './scaling/autoscaling.js';
import { childMetadata, podSelector } from './identity/child-metadata.js';
import { planBackendTlsPolicy } from './traffic/backend-tls-policy.js';
import type { Fallback } from './traffic/fallback.js';
import { planHttpRoute } from './traffic/http-route.js';
import { planIstioRoute } from './traffic/istio-route.js';
import { planNetworkPolicy } from './traffic/network-policy.js';
import { hasAdapterList, planAdapterList } from './pods/adapter-list.js';
import type { PlannedTemplate } from './pods/planned-template.js';
import { schemeOf, servicePort } from './pods/container-parts.js';
import { replacements, type Replacement } from './rollouts/replacement.js';
import type { RouteGateway } from './traffic/routing.js';
import type { SleepMark } from './scaling/sleep.js';
import { specHash } from './rollouts/spec-hash.js';

export interface ChildInputs {
  /** What the pods are to be: the wanted revision, or after its failure the last good one. */
  readonly template: PlannedTemplate;
  /** What pods are to serve; null: those of the spec were not judged, and the list that is there stays. */
  readonly adapters: readonly ListedAdapter[] | null;
  readonly replicas: number;
  readonly replacement: Replacement;
  /** Set on the Deployment of a held service: the attempt that failed terminally. */
  readonly failedAttempt: string | null;
  /** Name of the revision that was Ready last. */
  readonly goodRevision: string | null;
  /** Null: no route, because none was asked for or nothing could carry it. */
  readonly gateway: RouteGateway | null;
  readonly fallback: Fallback;
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
  readonly deployment: KubeObject;
  readonly others: readonly KubeObject[];
}

export function planChildren(service: WantedService, inputs: ChildInputs): PlannedChildren {
  return {
    adapterList: hasAdapterList(service)
      ? planAdapterList(service, inputs.adapters ?? service.adapters)
      : null,
    adaptersJudged: inputs.adapters !== null,
    configMap: inputs.template.configMap,
    deployment: planDeployment(service, inputs),
    others: [
      planService(service),
      planDisruptionBudget(service),
      ...planNetworkPolicy(service, inputs.operatorNamespace),
      ...planRoute(service, inputs),
      ...(inputs.autoscaler === null ? [] : planAutoscaler(service, inputs.autoscaler)),
      ...(inputs.activators === null ? [] : [planActivatorEndpoints(service, inputs.activators)]),
    ],
  };
}

/** The objects of its public route; none where nothing carries one. */
export function planRoute(
  service: WantedService,
  { gateway, fallback }: Pick<ChildInputs, 'gateway' | 'fallback'>,
): KubeObject[] {
  const { host } = service.spec.routing;
  if (gateway === null || host === undefined) return [];
  const instead = fallback.state === 'active' ? fallback : null;
  return gateway.provider === 'istio'
    ? planIstioRoute(service, host, gateway, instead)
    : [...planBackendTlsPolicy(service), planHttpRoute(service, host, gateway, instead)];
}

function planDeployment(service: WantedService, inputs: ChildInputs): KubeObject {
  const metadata = childMetadata(service, service.name);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...metadata,
      annotations: {
        [annotations.specHash]: specHash(service),
        ...(inputs.failedAttempt === null ? {} : { [annotations.failedAttempt]: inputs.failedAttempt }),
        ...(inputs.asleep === null ? {} : { [annotations.asleep]: JSON.stringify(inputs.asleep) }),
        ...(inputs.goodRevision === null ? {} : { [annotations.goodRevision]: inputs.goodRevision }),
      },
    },
    spec: {
      replicas: inputs.replicas,
      selector: { matchLabels: podSelector(service) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { ...replacements[inputs.replacement] } },
      revisionHistoryLimit: 3,
      // A load may take as long as it progresses; the runtime itself gives up when it stalls.
      progressDeadlineSeconds: 2147483647,
      template: inputs.template.pod,
    } satisfies V1DeploymentSpec,
  };
}

function planService(service: WantedService): KubeObject {
  const scheme = schemeOf(service);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: childMetadata(service, service.name),
    spec: {
      type: 'ClusterIP',
      selector: podSelector(service),
      ports: [
        {
          name: scheme,
          port: servicePort(scheme),
          // By name: pods that speak the other one, of a revision before or after, are not sent requests.
          targetPort: scheme,
          protocol: 'TCP',
          appProtocol: scheme,
        },
      ],
    } satisfies V1ServiceSpec,
  };
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
