// The pod template of prefill pods, made from that of the decode pods: the same revision, config, weights and devices, so that the
// KV blocks of one mean the same to the other. They differ in labels, in what the runtime is to do, and in resources where
// the spec says so.

import { isDeepStrictEqual } from 'node:util';
import type {
  V1Container,
  V1EnvVar,
  V1ObjectMeta,
  V1PodSpec,
  V1ResourceRequirements,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import { labels, ports, runtimeContainer, serverVariableNames } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { podSelector, prefillSelector } from '../identity/child-metadata.js';
import { deviceAmounts } from '../pods/device-claim.js';
import type { PlannedTemplate } from '../pods/planned-template.js';
import { requirementsOf } from '../pods/resources.js';

type Pod = PlannedTemplate['pod'];
type Prefill = NonNullable<WantedService['spec']['disaggregation']>['prefill'];
/** What the API's types are of, without being of their classes. */
type Plain<T> = Pick<T, keyof T>;

const { disaggregationRole, prefillHost, prefillMinTokens } = serverVariableNames;

/** Whether pods of the template have others compute prompts; one of before that was wanted does not. */
export function isOfDecodePods({ spec }: Pod): boolean {
  const env = spec.containers.find(({ name }) => name === runtimeContainer)?.env ?? [];
  return env.some(({ name, value }) => name === disaggregationRole && value === 'decode');
}

/** @param pod of the decode pods */
export function prefillTemplate(service: WantedService, pod: Pod, { resources }: Prefill): Pod {
  const own = Object.entries(pod.metadata.labels ?? {}).filter(([name]) => name !== labels.service);
  const metadata: Plain<V1ObjectMeta> = pod.metadata;
  const spec: Plain<V1PodSpec> = pod.spec;
  const spread = spec.topologySpreadConstraints?.map((each) => among(service, each));
  return {
    metadata: { ...metadata, labels: { ...Object.fromEntries(own), ...prefillSelector(service) } },
    spec: {
      ...spec,
      ...(spread === undefined ? {} : { topologySpreadConstraints: spread }),
      containers: spec.containers.map((container) =>
        container.name === runtimeContainer ? ofPrefill(service, container, resources) : container,
      ),
    },
  };
}

/** Spread among each other, where decode pods are spread so by default. */
function among(
  service: WantedService,
  constraint: Plain<V1TopologySpreadConstraint>,
): V1TopologySpreadConstraint {
  return isDeepStrictEqual(constraint.labelSelector, { matchLabels: podSelector(service) })
    ? { ...constraint, labelSelector: { matchLabels: prefillSelector(service) } }
    : constraint;
}

function ofPrefill(
  service: WantedService,
  container: Plain<V1Container>,
  resources: Prefill['resources'],
): V1Container {
  const transfers = Array.from({ length: service.podRanks }, (_, rank) => ({
    name: `kv-${String(rank)}`,
    containerPort: ports.kvTransfer + rank,
    protocol: 'TCP',
  }));
  return {
    ...container,
    ports: [
      ...(container.ports ?? []),
      { name: 'prefill', containerPort: ports.prefill, protocol: 'TCP' },
      ...transfers,
    ],
    env: envOf(container.env ?? []),
    resources: resourcesOf(service, container.resources ?? {}, resources),
  };
}

function envOf(env: readonly V1EnvVar[]): V1EnvVar[] {
  const decodeAlone: readonly string[] = [prefillHost, prefillMinTokens];
  return env
    .filter(({ name }) => !decodeAlone.includes(name))
    .map((each) => (each.name === disaggregationRole ? { name: each.name, value: 'prefill' } : each));
}

/** As in Kubernetes, a limit that comes without a request is the request too; devices stay those of decode pods. */
function resourcesOf(
  service: WantedService,
  own: Plain<V1ResourceRequirements>,
  change: Prefill['resources'],
): V1ResourceRequirements {
  if (change === undefined) return own;
  const { requests = {}, limits = {} } = own;
  const devices = Object.keys(deviceAmounts(service));
  const devicesOf = (amounts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(amounts).filter(([name]) => devices.includes(name)));
  const merged: Plain<V1ResourceRequirements> = requirementsOf({
    requests: { ...requests, ...change.limits, ...change.requests, ...devicesOf(requests) },
    limits: { ...limits, ...change.limits, ...devicesOf(limits) },
  });
  return { ...own, ...merged };
}
