// What the cluster has of a service that is planned, where it was asked, and what the operator was installed with as far as that
// shows; elsewhere everything that a plan may need is taken to be there.

import { timestamp, type LlmServiceSpec } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import { objectPath, resources, type Resource } from '../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject } from '../kube/types.js';
import { endpointPickerName } from '../plan/identity/child-identity.js';
import type { ClusterCapabilities, ServicePlan } from '../plan/plan-service.js';
import { noLimits } from '../plan/tenant-limits.js';
import { planPool, type Pool, type PoolInputs } from '../plan/traffic/pool.js';
import type { Gateway } from '../plan/traffic/routing.js';
import type { Cluster } from './cluster.js';

/** In objects whose image the operator would fill in, where nobody said which. */
const unknownImage = 'IMAGE-OF-THE-OPERATOR';
const unknownPrometheus = 'PROMETHEUS-OF-THE-OPERATOR';
const unknownPicker = 'IMAGE-OF-THE-ENDPOINT-PICKER';

type LivePool = Pick<PoolInputs, 'pool' | 'picker' | 'pickerService' | 'pickerRule' | 'route'>;

/** What the cluster has of a service; undefined: not asked. */
export interface Live {
  readonly service: KubeObject | null;
  readonly deployment: Deployment | null;
  /** Undefined: it wants no InferencePool. */
  readonly pool: LivePool | undefined;
}

/** As a person says; null: nobody did. */
interface Installed {
  /** Null: nothing is asked. */
  readonly cluster: Cluster | null;
  readonly image: string | null;
  readonly gateway: Gateway | null;
}

const none: LivePool = { pool: null, picker: null, pickerService: null, pickerRule: null, route: null };

/** @throws ClusterError */
export async function liveOf({ metadata, spec }: KubeObject, cluster: Cluster): Promise<Live> {
  const { namespace = '', name } = metadata;
  const { parallelism: { nodes = 1 } = {}, routing } = (spec ?? {}) as Partial<LlmServiceSpec>;
  const { apiVersion, kind } = resources.llmServices;
  return {
    service: await cluster.live({ apiVersion, kind, metadata }),
    // No class gives it.
    deployment: await (nodes > 1 ? cluster.groups(namespace, name) : cluster.deployment(namespace, name)),
    pool: routing?.backend === 'inferencePool' ? await livePool(metadata, cluster) : undefined,
  };
}

/** What the operator was installed with: as given, else as seen on what it made. */
export async function capabilitiesFor(
  { namespace, name, cache, spec }: WantedService,
  { cluster, image, gateway }: Installed,
  live: Live | undefined,
): Promise<ClusterCapabilities> {
  const { provider } = spec.scaling;
  // Beside a cluster one would have to know what the operator knows of Prometheus.
  const withKeda = cluster === null && provider === 'keda';
  const used = image ?? imageOf(live?.deployment) ?? unknownImage;
  return {
    images: { cpu: used, cuda: used, hip: used },
    vllmImages: { cpu: used, cuda: used, hip: used },
    operatorImage: imageOf(live?.deployment, 'initContainers') ?? unknownImage,
    gateway: gateway ?? (await cluster?.gateway(namespace, name)) ?? null,
    gatewayApi: true,
    backendTls: true,
    // Whether its ConfigMap is there is not asked.
    authority: { state: 'known', pem: '' },
    istioGateway: null,
    istio: false,
    // What the operator allows is not known here.
    allowedHostPaths: cache?.kind === 'hostPath' ? [cache.path] : [],
    limits: noLimits,
    hostTaken: false,
    deviceClaims: true,
    leaderWorkerSets: true,
    // Who scales by load depends on the cluster; the operator's own loop needs no object.
    keda: withKeda,
    customMetrics: (await cluster?.servesCustomMetrics()) ?? provider === 'hpa',
    prometheusUrl: withKeda ? unknownPrometheus : null,
    endpointPickerImage: imageOf(live?.pool?.picker) ?? unknownPicker,
    inferencePools: true,
    destinationRules: true,
  };
}

async function livePool(
  { namespace = '', name }: KubeObject['metadata'],
  cluster: Cluster,
): Promise<LivePool> {
  const { inferencePools, services, destinationRules, httpRoutes, deployments } = resources;
  const picker = endpointPickerName(name);
  const find = <T extends KubeObject>(kind: Resource, of: string): Promise<T | null> =>
    cluster.find<T>(objectPath(kind, namespace, of));
  return {
    pool: await find(inferencePools, name),
    picker: await find<Deployment>(deployments, picker),
    pickerService: await find(services, picker),
    pickerRule: await find(destinationRules, picker),
    route: await find<HttpRoute>(httpRoutes, name),
  };
}

/** As the operator would decide at its next look; where nothing was asked, at its first. */
export function poolOf(
  service: WantedService,
  { routing, pooling }: ServicePlan,
  live: LivePool = none,
): Pool {
  return planPool({ service, routing, capabilities: pooling, ...live, now: timestamp(new Date()) });
}

/** Of the first container. */
function imageOf(
  deployment: Deployment | null | undefined,
  which: 'containers' | 'initContainers' = 'containers',
): string | undefined {
  type Containers = readonly { readonly image?: string }[];
  const template = deployment?.spec?.template as
    { spec?: Record<typeof which, Containers | undefined> } | undefined;
  return template?.spec?.[which]?.[0]?.image;
}
