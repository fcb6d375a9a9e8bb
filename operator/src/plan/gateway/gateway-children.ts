// Everything that a gateway consists of, as objects to apply, in the order in which they are applied: the table of routes, the
// routers that read it, and how requests come to them.

import type {
  V1DeploymentSpec,
  V1PodDisruptionBudgetSpec,
  V1PodSpec,
  V1ServiceSpec,
} from '@kubernetes/client-node';
import { api, fieldManager, gatewayApi, labels, paths, ports, routerName } from '@llmservice/crds';
import { routeTableFile, routeTableText, type RouteTable } from '../../domain/route-table.js';
import type { WantedGateway } from '../../domain/wanted-gateway.js';
import type { KubeObject } from '../../kube/types.js';
import { resources } from '../../kube/resources.js';
import { gatewayChildName } from '../identity/child-identity.js';
import { keepAccepting, preStopSeconds, restricted, runtimeUser } from '../pods/container-parts.js';
import type { PlannedRouting } from '../traffic/routing.js';
import { planGatewayRoute } from './gateway-route.js';

export interface GatewayInputs {
  /** The operator's own, which has the router. */
  readonly image: string;
  readonly table: RouteTable;
  /** Null: no route, because none was asked for or nothing could carry it. */
  readonly routing: PlannedRouting | null;
}

/** Between the end of the answers and the end of the process. */
const marginSeconds = 15;

export function planGatewayChildren(gateway: WantedGateway, inputs: GatewayInputs): KubeObject[] {
  return [
    planTable(gateway, inputs.table),
    planDeployment(gateway, inputs.image),
    planService(gateway),
    planDisruptionBudget(gateway),
    ...planPolicy(gateway),
    ...(inputs.routing === null ? [] : planGatewayRoute(gatewayMetadata(gateway), inputs.routing)),
  ];
}

type Owner = Pick<WantedGateway, 'namespace' | 'name' | 'uid'>;

const podSelector = ({ name }: Pick<Owner, 'name'>): Record<string, string> => ({ [labels.gateway]: name });

/** Owned without blockOwnerDeletion, which would need a further permission and only slows deletion. */
function gatewayMetadata(gateway: Owner) {
  return {
    name: gatewayChildName(gateway.name),
    namespace: gateway.namespace,
    labels: {
      ...podSelector(gateway),
      [labels.name]: routerName,
      [labels.instance]: gateway.name,
      [labels.managedBy]: fieldManager,
    },
    ownerReferences: [
      {
        apiVersion: api.groupVersion,
        kind: gatewayApi.kind,
        name: gateway.name,
        uid: gateway.uid,
        controller: true,
      },
    ],
  };
}

function planTable(gateway: WantedGateway, table: RouteTable): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: gatewayMetadata(gateway),
    data: { [routeTableFile]: routeTableText(table) },
  };
}

function planDeployment(gateway: WantedGateway, image: string): KubeObject {
  const metadata = gatewayMetadata(gateway);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: gateway.spec.replicas,
      selector: { matchLabels: podSelector(gateway) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      revisionHistoryLimit: 3,
      template: { metadata: { labels: metadata.labels }, spec: planPod(gateway, image) },
    } satisfies V1DeploymentSpec,
  };
}

function planPod(gateway: WantedGateway, image: string): V1PodSpec {
  const { accounting, auth, drainTimeoutSeconds, maxBodyBytes } = gateway.spec;
  const { imagePullSecrets, nodeSelector, affinity, tolerations, priorityClassName } = gateway.spec;
  const keys = auth.keysSecretRef?.name;
  const claim = accounting.persistentVolumeClaimRef?.name;
  const env = {
    MAX_BODY_BYTES: maxBodyBytes,
    DRAIN_SECONDS: drainTimeoutSeconds,
    ...(keys === undefined ? {} : { KEYS_DIR: paths.keys, ROUTER_REPLICAS: gateway.spec.replicas }),
    ...(claim === undefined
      ? {}
      : {
          // Of its own: a service may write to the same claim.
          ACCOUNTING_DIR: `${paths.accounting}/${gatewayChildName(gateway.name)}`,
          GATEWAY: `${gateway.namespace}/${gateway.name}`,
        }),
  };
  return {
    ...(imagePullSecrets === undefined ? {} : { imagePullSecrets: [...imagePullSecrets] }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(tolerations === undefined ? {} : { tolerations: [...tolerations] }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    // It asks nothing of the API server.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: preStopSeconds + drainTimeoutSeconds + marginSeconds,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: runtimeUser,
      runAsGroup: runtimeUser,
      fsGroup: runtimeUser,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'router',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['node', 'operator/dist/router/main.js'],
        env: Object.entries(env).map(([name, value]) => ({ name, value: String(value) })),
        ports: [
          { name: 'http', containerPort: ports.router, protocol: 'TCP' },
          { name: 'metrics', containerPort: ports.operatorMetrics, protocol: 'TCP' },
        ],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
        securityContext: restricted,
        ...keepAccepting,
        livenessProbe: {
          httpGet: { path: '/healthz', port: 'metrics' },
          initialDelaySeconds: 10,
          periodSeconds: 10,
          timeoutSeconds: 5,
          failureThreshold: 6,
        },
        readinessProbe: {
          httpGet: { path: '/readyz', port: 'metrics' },
          periodSeconds: 2,
          timeoutSeconds: 5,
        },
        volumeMounts: [
          { name: 'routes', mountPath: paths.routes, readOnly: true },
          ...(keys === undefined ? [] : [{ name: 'keys', mountPath: paths.keys, readOnly: true }]),
          ...(claim === undefined ? [] : [{ name: 'accounting', mountPath: paths.accounting }]),
        ],
      },
    ],
    volumes: [
      { name: 'routes', configMap: { name: gatewayChildName(gateway.name), defaultMode: 0o644 } },
      ...(keys === undefined ? [] : [{ name: 'keys', secret: { secretName: keys, defaultMode: 0o440 } }]),
      ...(claim === undefined ? [] : [{ name: 'accounting', persistentVolumeClaim: { claimName: claim } }]),
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: podSelector(gateway) },
      },
    ],
  };
}

function planService(gateway: WantedGateway): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: gatewayMetadata(gateway),
    spec: {
      type: 'ClusterIP',
      selector: podSelector(gateway),
      ports: [
        { name: 'http', port: ports.service, targetPort: 'http', protocol: 'TCP', appProtocol: 'http' },
      ],
    } satisfies V1ServiceSpec,
  };
}

function planDisruptionBudget(gateway: WantedGateway): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: gatewayMetadata(gateway),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: podSelector(gateway) },
    } satisfies V1PodDisruptionBudgetSpec,
  };
}

function planPolicy(gateway: WantedGateway): KubeObject[] {
  const peers = gateway.spec.networkPolicy?.from;
  if (peers === undefined) return [];
  const { apiVersion, kind } = resources.networkPolicies;
  const open = [ports.router, ports.operatorMetrics].map((port) => ({ port, protocol: 'TCP' }));
  return [
    {
      apiVersion,
      kind,
      metadata: gatewayMetadata(gateway),
      spec: {
        podSelector: { matchLabels: podSelector(gateway) },
        policyTypes: ['Ingress'],
        ingress: [{ from: [...peers], ports: open }],
      },
    },
  ];
}
