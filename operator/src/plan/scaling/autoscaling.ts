// Who scales a service by load, and what has to be applied for that. HorizontalPodAutoscaler and KEDA scale the LlmService
// by its scale subresource, never the Deployment, and never to zero: sleep is the operator's.

import type {
  V2CrossVersionObjectReference,
  V2HorizontalPodAutoscalerBehavior,
  V2HorizontalPodAutoscalerSpec,
} from '@kubernetes/client-node';
import { podMetrics, type LlmServiceSpec } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { resources } from '../../kube/resources.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { childMetadata } from '../identity/child-metadata.js';

type ScalingSpec = LlmServiceSpec['scaling'];
export type ScalingMetric = ScalingSpec['metric'];
type ScalingProvider = Exclude<ScalingSpec['provider'], 'auto'>;

/** Who scales by load. */
export type Autoscaler =
  { readonly provider: 'hpa' | 'operator' } | { readonly provider: 'keda'; readonly prometheusUrl: string };

export interface AutoscalingCapabilities {
  /** Whether the cluster knows ScaledObject. */
  readonly keda: boolean;
  /** Kinds of others that the operator may not read, which count as unknown. */
  readonly forbidden?: readonly string[];
  /** Whether something answers for custom.metrics.k8s.io. */
  readonly customMetrics: boolean;
  /** Where KEDA asks for our metrics; null: it is not set. */
  readonly prometheusUrl: string | null;
}

export type Autoscaling =
  /** `replicas` is set by hand. */
  | { readonly state: 'off' }
  | { readonly state: 'planned'; readonly autoscaler: Autoscaler }
  | { readonly state: 'missing'; readonly provider: ScalingProvider; readonly message: string };

export function planAutoscaling(
  { spec }: Pick<WantedService, 'spec'>,
  { keda, customMetrics, prometheusUrl, forbidden = [] }: AutoscalingCapabilities,
): Autoscaling {
  const { provider, maxReplicas } = spec.scaling;
  if (maxReplicas === undefined) return { state: 'off' };
  const planned = (autoscaler: Autoscaler): Autoscaling => ({ state: 'planned', autoscaler });
  const missing = (by: ScalingProvider, message: string): Autoscaling => ({
    state: 'missing',
    provider: by,
    message,
  });
  switch (provider) {
    case 'auto':
      if (keda && prometheusUrl !== null) return planned({ provider: 'keda', prometheusUrl });
      return planned({ provider: customMetrics ? 'hpa' : 'operator' });
    case 'keda':
      if (forbidden.includes(resources.scaledObjects.plural)) return missing('keda', noRights);
      if (!keda) return missing('keda', `The cluster has no KEDA. ${elseOperator}`);
      return prometheusUrl === null
        ? missing('keda', noPrometheus)
        : planned({ provider: 'keda', prometheusUrl });
    case 'hpa':
      return customMetrics
        ? planned({ provider: 'hpa' })
        : missing('hpa', `The cluster has no custom metrics. ${elseOperator}`);
    case 'operator':
      return planned({ provider: 'operator' });
  }
}

const noRights =
  'The operator may not list and watch scaledobjects. Give its role these rights, as its chart does, or set scaling.provider to auto or operator.';
const elseOperator = 'Install what serves them, or set scaling.provider to auto or operator.';
const noPrometheus =
  'The operator does not know where KEDA finds our metrics. Install it with prometheus.url, or set scaling.provider to auto or operator.';

/** In the metric's own unit: requests, or percent. */
export function scalingTarget({ scaling, engine }: Pick<LlmServiceSpec, 'scaling' | 'engine'>): number {
  const { metric, target } = scaling;
  if (target !== undefined) return target;
  return { concurrency: Math.max(1, Math.floor(engine.maxNumSeqs * 0.7)), queue: 4, kvUsage: 80 }[metric];
}

/** The series that add up to each metric. */
const series: Readonly<Record<ScalingMetric, readonly string[]>> = {
  concurrency: [podMetrics.running, podMetrics.waiting],
  queue: [podMetrics.waiting],
  kvUsage: [podMetrics.kvUsage],
};

/** What is applied for it; the operator's own loop needs nothing. */
export function planAutoscaler(service: WantedService, autoscaler: Autoscaler): KubeObject[] {
  const { maxReplicas } = service.spec.scaling;
  if (maxReplicas === undefined || autoscaler.provider === 'operator') return [];
  return autoscaler.provider === 'keda'
    ? [planScaledObject(service, maxReplicas, autoscaler.prometheusUrl)]
    : [planHpa(service, maxReplicas)];
}

function planHpa(service: WantedService, maxReplicas: number): KubeObject {
  const { scaling } = service.spec;
  const target = scalingTarget(service.spec);
  // The series has a share where the target is a percentage.
  const averageValue = scaling.metric === 'kvUsage' ? `${target * 10}m` : String(target);
  const { apiVersion, kind } = resources.horizontalPodAutoscalers;
  return {
    apiVersion,
    kind,
    metadata: childMetadata(service, service.name),
    spec: {
      scaleTargetRef: targetOf(service),
      minReplicas: scaling.minReplicas ?? 1,
      maxReplicas,
      // Of several the one counts that asks for most.
      metrics: series[scaling.metric].map((name) => ({
        type: 'Pods',
        pods: { metric: { name }, target: { type: 'AverageValue', averageValue } },
      })),
      behavior: behaviorOf(service),
    } satisfies V2HorizontalPodAutoscalerSpec,
  };
}

function planScaledObject(service: WantedService, maxReplicas: number, prometheusUrl: string): KubeObject {
  const { scaling } = service.spec;
  const { apiVersion, kind } = resources.scaledObjects;
  const pods = `{namespace="${service.namespace}",pod=~"${podPattern(service)}"}`;
  const sum = series[scaling.metric].map((name) => `sum(${name}${pods})`).join(' + ');
  return {
    apiVersion,
    kind,
    metadata: childMetadata(service, service.name),
    spec: {
      scaleTargetRef: targetOf(service),
      minReplicaCount: scaling.minReplicas ?? 1,
      maxReplicaCount: maxReplicas,
      pollingInterval: 15,
      advanced: { horizontalPodAutoscalerConfig: { behavior: behaviorOf(service) } },
      triggers: [
        {
          type: 'prometheus',
          metricType: 'AverageValue',
          metadata: {
            serverAddress: prometheusUrl,
            query: scaling.metric === 'kvUsage' ? `100 * ${sum}` : sum,
            threshold: String(scalingTarget(service.spec)),
            // A series that is missing is an error and not a zero: what cannot be seen is never idle.
            ignoreNullValues: 'false',
          },
        },
      ],
    },
  };
}

/** What Kubernetes puts before a pod's random end is cut to this. */
const longestPodPrefix = 58;
const podSuffix = 5;
/** Of a ReplicaSet: a number of 32 bits, a letter for each digit. */
const longestHash = 10;

/**
 * Names of its Deployment's pods, as a regular expression: NAME-HASH-RANDOM, or after a long name NAME-HASHRANDOM with
 * what is left of the hash. By their lengths no pod is taken along of a service whose name begins with this one's.
 */
function podPattern({ name, spec }: WantedService): string {
  const whole = `[a-z0-9]{1,${longestHash}}-[a-z0-9]{${podSuffix}}`;
  const left = longestPodPrefix - `${name}-`.length;
  const own = left > longestHash ? `${name}-${whole}` : `${name}-(${whole}|[a-z0-9]{${left + podSuffix}})`;
  return spec.canary === undefined
    ? own
    : `${name}-canary-[a-z0-9-]{1,${longestHash + 1 + podSuffix}}|${own}`;
}

function targetOf({ name }: WantedService): V2CrossVersionObjectReference {
  const { apiVersion, kind } = resources.llmServices;
  return { apiVersion, kind, name };
}

function behaviorOf({ spec }: WantedService): V2HorizontalPodAutoscalerBehavior {
  return { scaleDown: { stabilizationWindowSeconds: spec.scaling.scaleDownStabilizationSeconds } };
}
