// The objects of a service's prefill pods: their Deployment, the headless Service by which decode pods find them, a disruption
// budget, and the policy that lets decode pods alone send them prompts and fetch KV blocks.

import type {
  V1DeploymentSpec,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1PodDisruptionBudgetSpec,
  V1ServiceSpec,
} from '@kubernetes/client-node';
import { ports } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { prefillName } from '../../kube/prefill-name.js';
import { resources } from '../../kube/resources.js';
import type { KubeObject } from '../../kube/types.js';
import { childMetadata, podSelector, prefillSelector } from '../identity/child-metadata.js';
import type { PlannedTemplate } from '../pods/planned-template.js';
import { queueLabels } from '../pods/pod-metadata.js';
import { replacements } from '../rollouts/replacement.js';
import { ingressOfClients, transferPorts } from '../traffic/network-policy.js';
import { isOfDecodePods, prefillTemplate } from './prefill-template.js';

interface PrefillInputs {
  /** Of the decode pods. */
  readonly template: PlannedTemplate;
  /** Of decode pods: without any, nobody asks prefill pods. */
  readonly replicas: number;
  readonly operatorNamespace: string;
}

/** None where decode pods ask nobody: by the spec, or as those of a revision from before. */
export function planPrefill(
  service: WantedService,
  { template, replicas, operatorNamespace }: PrefillInputs,
): KubeObject[] {
  const { disaggregation } = service.spec;
  if (disaggregation === undefined || !isOfDecodePods(template.pod)) return [];
  const { prefill } = disaggregation;
  const matchLabels = prefillSelector(service);
  const metadata = childMetadata(service, prefillName(service.name));
  const { apiVersion, kind } = resources.networkPolicies;
  return [
    // Before pods that only it keeps from others.
    {
      apiVersion,
      kind,
      metadata,
      spec: {
        podSelector: { matchLabels },
        policyTypes: ['Ingress'],
        ingress: [ingressOfClients(service, operatorNamespace), ingressOfDecodePods(service)],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels: { ...metadata.labels, ...queueLabels(service) } },
      spec: {
        replicas: replicas === 0 ? 0 : prefill.replicas,
        selector: { matchLabels },
        // One less for a while harms nobody, where one more could wait for devices for ever.
        strategy: { type: 'RollingUpdate', rollingUpdate: { ...replacements.drain } },
        revisionHistoryLimit: 3,
        progressDeadlineSeconds: 2147483647,
        template: prefillTemplate(service, template.pod, prefill),
      } satisfies V1DeploymentSpec,
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        clusterIP: 'None',
        selector: matchLabels,
        ports: [{ name: 'prefill', port: ports.prefill, targetPort: ports.prefill, protocol: 'TCP' }],
      } satisfies V1ServiceSpec,
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels },
      } satisfies V1PodDisruptionBudgetSpec,
    },
  ];
}

/** The types of the client have another name for `from`. */
function ingressOfDecodePods(service: WantedService): {
  from: V1NetworkPolicyPeer[];
  ports: V1NetworkPolicyPort[];
} {
  return {
    from: [{ podSelector: { matchLabels: podSelector(service) } }],
    ports: [{ port: ports.prefill, protocol: 'TCP' }, transferPorts],
  };
}
