// An InferencePool of a service's pods and the endpoint picker that chooses among them: the published one, by its own
// defaults, which score pods by queue, KV cache and prefix from the metrics that our pods have by vLLM's names.

import type { V1DeploymentSpec, V1PodSpec, V1ServiceSpec } from '@kubernetes/client-node';
import { labels, pickerName, ports } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { resources } from '../../kube/resources.js';
import type { KubeObject } from '../../kube/types.js';
import { childMetadata, pickerSelector, servingSelector } from '../identity/child-metadata.js';
import { endpointPickerName } from '../identity/child-identity.js';
import { preStopSeconds, restricted, runtimeUser } from '../pods/container-parts.js';
import { planPickerPolicy } from './network-policy.js';

/** The service of gRPC's health protocol that the picker answers for. */
const healthService = 'inference-extension';

/**
 * In the order in which they are applied: the pool before its picker, which waits for it.
 * @param byIstio whether the gateway that asks it is istio's
 */
export function planEndpointPicker(
  service: WantedService,
  { image, byIstio }: { readonly image: string; readonly byIstio: boolean },
): KubeObject[] {
  return [
    planPool(service),
    ...planRights(service),
    ...planPickerPolicy(service),
    planDeployment(service, image),
    planService(service),
    ...(byIstio ? [planDestinationRule(service)] : []),
  ];
}

function planPool(service: WantedService): KubeObject {
  const { apiVersion, kind } = resources.inferencePools;
  return {
    apiVersion,
    kind,
    metadata: childMetadata(service, service.name),
    spec: {
      selector: { matchLabels: servingSelector(service) },
      targetPorts: [{ number: ports.http }],
      endpointPickerRef: {
        group: '',
        kind: 'Service',
        name: endpointPickerName(service.name),
        port: { number: ports.picker },
        // Without a picker, any pod is better than none.
        failureMode: 'FailOpen',
      },
    },
  };
}

/** What it watches, of its own namespace. It asks for nothing by name, so that the operator need not be allowed `get` of pods. */
const watched = [
  { apiGroups: [''], resources: ['pods'] },
  { apiGroups: ['inference.networking.k8s.io'], resources: ['inferencepools'] },
  // Where somebody installed them.
  {
    apiGroups: ['inference.networking.x-k8s.io', 'llm-d.ai'],
    resources: ['inferenceobjectives', 'inferencemodelrewrites'],
  },
].map((rule) => ({ ...rule, verbs: ['list', 'watch'] }));

function planRights(service: WantedService): KubeObject[] {
  const { serviceAccounts, roles, roleBindings } = resources;
  const name = endpointPickerName(service.name);
  const of = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => ({
    apiVersion,
    kind,
    metadata: childMetadata(service, name),
  });
  return [
    of(serviceAccounts),
    { ...of(roles), rules: watched },
    {
      ...of(roleBindings),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: roles.kind, name },
      subjects: [{ kind: serviceAccounts.kind, name, namespace: service.namespace }],
    },
  ];
}

function planDeployment(service: WantedService, image: string): KubeObject {
  const metadata = childMetadata(service, endpointPickerName(service.name));
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      // What it knows of prefixes is its own: of two, each would know half.
      replicas: 1,
      selector: { matchLabels: pickerSelector(service) },
      // Two at a time would choose by different knowledge. Meanwhile the route leads to the Service.
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 1,
      template: {
        metadata: {
          // Without the service's label, by which its Service finds pods.
          labels: {
            ...pickerSelector(service),
            [labels.name]: pickerName,
            [labels.instance]: service.name,
            [labels.managedBy]: metadata.labels[labels.managedBy] ?? '',
          },
        },
        spec: planPod(service, image),
      },
    } satisfies V1DeploymentSpec,
  };
}

function planPod(service: WantedService, image: string): V1PodSpec {
  const { imagePullSecrets, tolerations, nodeSelector, affinity, priorityClassName } = service.spec;
  const probe = { grpc: { port: ports.pickerHealth, service: healthService }, periodSeconds: 5 };
  return {
    serviceAccountName: endpointPickerName(service.name),
    // Where a namespace pulls by a Secret, has nodes of its own or goes before others, its picker needs what its pods need.
    ...(imagePullSecrets === undefined ? {} : { imagePullSecrets }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    enableServiceLinks: false,
    terminationGracePeriodSeconds: preStopSeconds + 25,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: runtimeUser,
      runAsGroup: runtimeUser,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'picker',
        image,
        imagePullPolicy: 'IfNotPresent',
        args: [
          `--pool-name=${service.name}`,
          `--pool-namespace=${service.namespace}`,
          `--grpc-port=${String(ports.picker)}`,
          `--grpc-health-port=${String(ports.pickerHealth)}`,
          `--metrics-port=${String(ports.pickerMetrics)}`,
          // It would ask the API server who scrapes, by rights of the whole cluster.
          '--metrics-endpoint-auth=false',
          '--enable-pprof=false',
          '--tracing=false',
        ],
        ports: [
          { name: 'grpc', containerPort: ports.picker, protocol: 'TCP' },
          { name: 'grpc-health', containerPort: ports.pickerHealth, protocol: 'TCP' },
          { name: 'metrics', containerPort: ports.pickerMetrics, protocol: 'TCP' },
        ],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } },
        securityContext: restricted,
        livenessProbe: { ...probe, initialDelaySeconds: 10, failureThreshold: 6 },
        readinessProbe: probe,
      },
    ],
  };
}

function planService(service: WantedService): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: childMetadata(service, endpointPickerName(service.name)),
    spec: {
      type: 'ClusterIP',
      selector: pickerSelector(service),
      ports: [{ name: 'grpc', port: ports.picker, targetPort: 'grpc', protocol: 'TCP' }],
    } satisfies V1ServiceSpec,
  };
}

/** The picker speaks TLS by a certificate of its own making; to a Service without a rule, istio's gateways speak plain text. */
function planDestinationRule(service: WantedService): KubeObject {
  const { apiVersion, kind } = resources.destinationRules;
  const name = endpointPickerName(service.name);
  return {
    apiVersion,
    kind,
    metadata: childMetadata(service, name),
    spec: {
      host: `${name}.${service.namespace}.svc.cluster.local`,
      trafficPolicy: { tls: { mode: 'SIMPLE', insecureSkipVerify: true } },
    },
  };
}
