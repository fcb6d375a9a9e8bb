// Everything that a service consists of, as objects to apply, in the order in which they are applied.

import { labels, ports } from '@llmservice/crds';
import type { WantedService } from '../spec/parse-spec.js';
import type { KubeObject } from '../kube/types.js';
import { childMetadata, podSelector } from './child-metadata.js';
import { planConfigMap, planEngineConfig, planPullConfig } from './engine-config.js';
import { contentHash } from './content-hash.js';
import { planPodTemplate, schemeOf, type PodInputs } from './pod-template.js';
import { planHttpRoute } from './http-route.js';
import { planIstioRoute } from './istio-route.js';
import type { RouteGateway } from './routing.js';

export interface ChildInputs extends Pick<PodInputs, 'image' | 'pullImage' | 'size' | 'memoryPlan'> {
  readonly replicas: number;
  /** Set on the Deployment of a halted service: the attempt that failed terminally. */
  readonly failedAttempt: string | null;
  /** Null: no route, because none was asked for or nothing could carry it. */
  readonly gateway: RouteGateway | null;
}

export interface PlannedChildren {
  readonly configMap: KubeObject;
  readonly deployment: KubeObject;
  readonly others: readonly KubeObject[];
  /** Hash of the pod template. */
  readonly revision: string;
}

/** On the Deployment: the attempt (see planAttempt) after whose terminal failure it was scaled to zero. */
export const failedAttemptAnnotation = 'llmservice.dev/failed-attempt';
/** On the Deployment: the spec (see specHash) that its template was made from. */
export const specHashAnnotation = 'llmservice.dev/spec-hash';

/** Everything of the spec but how many: scaling is no new attempt. */
export function specHash({ spec }: Pick<WantedService, 'spec'>): string {
  return contentHash({ ...spec, replicas: undefined });
}

/** What must change before a service that failed terminally is tried again. */
export function planAttempt(service: WantedService, checkpointFingerprint: string): string {
  return contentHash({ spec: specHash(service), checkpointFingerprint, retry: service.retry });
}

export function planChildren(service: WantedService, inputs: ChildInputs): PlannedChildren {
  const config = inputs.pullImage === null ? planEngineConfig(service) : planPullConfig(service);
  const configMap = planConfigMap(service, config);
  const template = planPodTemplate(service, {
    image: inputs.image,
    pullImage: inputs.pullImage,
    configMap: configMap.metadata.name,
    configHash: contentHash(config),
    size: inputs.size,
    memoryPlan: inputs.memoryPlan,
  });
  const { revision, ...pod } = template;
  return {
    configMap,
    deployment: planDeployment(service, inputs, pod),
    others: [planService(service), planDisruptionBudget(service), ...planRoute(service, inputs.gateway)],
    revision,
  };
}

function planRoute(service: WantedService, gateway: RouteGateway | null): KubeObject[] {
  const { host } = service.spec.routing;
  if (gateway === null || host === undefined) return [];
  return gateway.provider === 'istio'
    ? planIstioRoute(service, host, gateway)
    : [planHttpRoute(service, host, gateway)];
}

function planDeployment(service: WantedService, inputs: ChildInputs, template: object): KubeObject {
  const metadata = childMetadata(service, service.name);
  // On the CPU a surge pod finds room. Devices are scarce: a surge pod would wait for those that the old one holds.
  const surge = service.accelerator.kind === 'cpu';
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...metadata,
      annotations: {
        [specHashAnnotation]: specHash(service),
        ...(inputs.failedAttempt === null ? {} : { [failedAttemptAnnotation]: inputs.failedAttempt }),
      },
    },
    spec: {
      replicas: inputs.replicas,
      selector: { matchLabels: podSelector(service) },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: surge ? 0 : 1, maxSurge: surge ? 1 : 0 },
      },
      revisionHistoryLimit: 3,
      // A load may take as long as it progresses; the runtime itself gives up when it stalls.
      progressDeadlineSeconds: 2147483647,
      template,
    },
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
          port: scheme === 'https' ? ports.secureService : ports.service,
          // By name: pods that speak the other one, of a revision before or after, are not sent requests.
          targetPort: scheme,
          protocol: 'TCP',
          appProtocol: scheme,
        },
      ],
    },
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
    },
  };
}
