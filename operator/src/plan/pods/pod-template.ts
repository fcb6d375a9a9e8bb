// The pod that serves: one container, restricted security context, weights and /dev/shm as volumes, probes that
// distinguish "the event loop turns" (startup, liveness) from "the model answers" (readiness).

import type { V1Container, V1ObjectMeta, V1PodSpec, V1Volume } from '@kubernetes/client-node';
import { type MemoryPlan } from '@llmservice/checkpoint';
import { annotations, paths, ports, routes, runtimeContainer, type EnvVar } from '@llmservice/crds';
import { caConfigMap } from '../../resource/store-access.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { formatMi } from '../../resource/quantity.js';
import { podSelector } from '../identity/child-metadata.js';
import { acceleratorVariables, storeVariables, serverVariables, withUsers } from './container-env.js';
import {
  keepAccepting,
  preStopSeconds,
  probe,
  restricted,
  runtimeUser,
  caMounts,
  schemeOf,
  terminationMessage,
} from './container-parts.js';
import { contentHash } from '../../domain/content-hash.js';
import { podMetadata } from './pod-metadata.js';
import { prepareCache, weightsMount, weightsVolume } from './node-cache-volume.js';
import { planResources, type CheckpointSize } from './resources.js';
import { claimAnnotations, podClaims } from './device-claim.js';
import { checkpointMounts, checkpointVolumes } from './checkpoint-volume.js';
import { adapterMounts, adapterVolumes } from './adapter-list.js';
import { planVllmContainers, vllmAnnotations } from './vllm-pod.js';

export interface PodInputs {
  readonly image: string;
  /** Of our runtime, where it pulls for another engine; else null. */
  readonly pullImage: string | null;
  /** The operator's own. Null: it is not set, and no folder of a node is prepared. */
  readonly operatorImage: string | null;
  readonly configMap: string;
  readonly configHash: string;
  readonly size: CheckpointSize;
  readonly memoryPlan: MemoryPlan | null;
}

/** From the end of the drain to SIGKILL. */
const graceSeconds = 15;

export function planPodTemplate(service: WantedService, inputs: PodInputs): PodTemplate {
  const { spec } = service;
  const { pullImage } = inputs;
  const template = {
    metadata: podMetadata(service, {
      [annotations.configHash]: inputs.configHash,
      ...claimAnnotations(service),
      ...(pullImage === null ? {} : vllmAnnotations),
    }),
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: preStopSeconds + spec.rollout.drainTimeoutSeconds + graceSeconds,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: runtimeUser,
        runAsGroup: runtimeUser,
        fsGroup: runtimeUser,
        // Not every file of a large volume at every start.
        ...(service.cache?.kind === 'pvc' ? { fsGroupChangePolicy: 'OnRootMismatch' } : {}),
        seccompProfile: { type: 'RuntimeDefault' },
        ...defined({ supplementalGroups: spec.supplementalGroups }),
      },
      ...defined({
        serviceAccountName: spec.serviceAccountName,
        imagePullSecrets: spec.imagePullSecrets,
        nodeSelector: spec.nodeSelector,
        affinity: spec.affinity,
        tolerations: spec.tolerations,
        priorityClassName: spec.priorityClassName,
        runtimeClassName: spec.runtimeClassName,
        topologySpreadConstraints: spec.topologySpreadConstraints?.map((constraint) => ({
          labelSelector: { matchLabels: podSelector(service) },
          ...constraint,
        })),
      }),
      ...podClaims(service),
      ...(pullImage === null
        ? { ...prepareCache(service, inputs.operatorImage), containers: [planContainer(service, inputs)] }
        : planVllmContainers(service, { ...inputs, pullImage })),
      volumes: planVolumes(service, inputs),
    },
  };
  const revision = contentHash(template);
  return {
    ...template,
    metadata: {
      ...template.metadata,
      annotations: { ...template.metadata.annotations, [annotations.revision]: revision },
    },
    revision,
  };
}

export interface PodTemplate {
  readonly metadata: V1ObjectMeta;
  readonly spec: V1PodSpec;
  /** Hash of the template. */
  readonly revision: string;
}

function planContainer(service: WantedService, inputs: PodInputs): V1Container {
  const scheme = schemeOf(service);
  return {
    name: runtimeContainer,
    image: inputs.image,
    imagePullPolicy: 'IfNotPresent',
    ports: [
      { name: scheme, containerPort: ports.http, protocol: 'TCP' },
      ...(service.nodes > 1 ? [{ name: 'ranks', containerPort: ports.ranks, protocol: 'TCP' }] : []),
    ],
    env: planEnv(service),
    resources: planResources(service, inputs.size, inputs.memoryPlan),
    securityContext: restricted,
    ...terminationMessage,
    ...keepAccepting,
    startupProbe: probe(scheme, routes.startup, { periodSeconds: 1, failureThreshold: 120 }),
    livenessProbe: probe(scheme, routes.live, { periodSeconds: 10, failureThreshold: 6 }),
    readinessProbe: probe(scheme, routes.ready, { periodSeconds: 2, failureThreshold: 3 }),
    volumeMounts: [
      { name: 'engine-config', mountPath: paths.engineConfigDir, readOnly: true },
      weightsMount(service),
      { name: 'shared-memory', mountPath: paths.sharedMemory },
      { name: 'tmp', mountPath: '/tmp' },
      ...caMounts(service),
      ...adapterMounts(service),
      ...checkpointMounts(service),
      ...secretsOf(service).map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
      ...(service.spec.accounting.persistentVolumeClaimRef === undefined
        ? []
        : [{ name: 'accounting', mountPath: paths.accounting }]),
    ],
  };
}

function planVolumes(service: WantedService, inputs: PodInputs): V1Volume[] {
  const ca = caConfigMap(service.spec);
  const claim = service.spec.accounting.persistentVolumeClaimRef;
  return [
    { name: 'engine-config', configMap: { name: inputs.configMap, defaultMode: 0o644 } },
    { name: 'weights', ...weightsVolume(service.cache) },
    { name: 'shared-memory', emptyDir: { medium: 'Memory', sizeLimit: formatMi(service.sharedMemoryBytes) } },
    { name: 'tmp', emptyDir: {} },
    ...(ca === null ? [] : [{ name: 's3-ca', configMap: { name: ca.name, defaultMode: 0o644 } }]),
    ...adapterVolumes(service),
    ...checkpointVolumes(service, inputs.size.imageDigest),
    // Readable by fsGroup. Where the Secret is missing the runtime starts all the same, to end with the reason.
    ...secretsOf(service).map(({ name, secretName }) => ({
      name,
      secret: { secretName, defaultMode: 0o440, optional: true },
    })),
    ...(claim === undefined
      ? []
      : [{ name: 'accounting', persistentVolumeClaim: { claimName: claim.name } }]),
  ];
}

interface MountedSecret {
  /** Of the volume. */
  readonly name: string;
  readonly secretName: string;
  readonly mountPath: string;
}

function secretsOf({ spec }: WantedService): MountedSecret[] {
  const volumes = [
    { name: 'keys', ref: spec.auth.keysSecretRef, mountPath: paths.keys },
    {
      name: 'administration',
      ref: spec.administration?.keysSecretRef,
      mountPath: paths.administrationKeys,
    },
    { name: 'tls', ref: spec.tls.secretRef, mountPath: paths.tls },
  ];
  return volumes.flatMap(({ ref, ...volume }) =>
    ref === undefined ? [] : [{ ...volume, secretName: ref.name }],
  );
}

function planEnv(service: WantedService): EnvVar[] {
  const own = [...storeVariables(service), ...serverVariables(service), ...acceleratorVariables(service)];
  return withUsers(own, service);
}

/** Without the fields that are undefined. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
