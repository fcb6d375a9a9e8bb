// The pod of a service that vLLM serves: our puller brings verified weights into a volume first, then vLLM loads them. The
// container has our own one's name and port, so that Service, status and monitors need not know who serves.

import type { V1Container, V1ResourceRequirements } from '@kubernetes/client-node';
import {
  annotations,
  paths,
  ports,
  routes,
  runtimeContainer,
  weightsContainer,
  type EnvVar,
} from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { formatMi } from '../../resource/quantity.js';
import { checkpointMounts, mountedFolder } from './checkpoint-volume.js';
import { acceleratorVariables, storeVariables, withUsers } from './container-env.js';
import { keepAccepting, probe, restricted, caMounts, terminationMessage } from './container-parts.js';
import { deviceAmounts, withClaims } from './device-claim.js';
import { requirementsOf, type CheckpointSize } from './resources.js';
import { kvBytesWithoutLimit, planVllmArgs } from './vllm-args.js';

export interface VllmInputs {
  /** Of vLLM. */
  readonly image: string;
  /** Of our runtime, which pulls. */
  readonly pullImage: string;
  readonly size: CheckpointSize;
}

const gib = 2 ** 30;
/** A load reports no progress, so that only its whole time can be bounded: two hours. */
const startup = { periodSeconds: 2, failureThreshold: 3600 };

/** Marks the pod's log as vLLM's, for whoever reads its failure. */
export const vllmAnnotations = { [annotations.engineRuntime]: 'vllm' };

export function planVllmContainers(
  service: WantedService,
  inputs: VllmInputs,
): { initContainers?: V1Container[]; containers: V1Container[] } {
  return {
    // What is mounted is loaded from there.
    ...(mountedFolder(service) === null ? { initContainers: [weights(service, inputs)] } : {}),
    containers: [vllm(service, inputs)],
  };
}

/** Ends once all files are there; its termination message is typed like the native runtime's. */
function weights(service: WantedService, { pullImage, size }: VllmInputs): V1Container {
  return {
    name: weightsContainer,
    image: pullImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', 'runtime/dist/pull.js'],
    env: withUsers(storeVariables(service), service),
    resources: { requests: { memory: '512Mi', 'ephemeral-storage': formatMi(size.fileBytes) } },
    securityContext: restricted,
    ...terminationMessage,
    volumeMounts: [
      { name: 'engine-config', mountPath: paths.engineConfigDir, readOnly: true },
      { name: 'weights', mountPath: paths.weights },
      { name: 'tmp', mountPath: '/tmp' },
      ...caMounts(service),
    ],
  };
}

function vllm(service: WantedService, { image, size }: VllmInputs): V1Container {
  return {
    name: runtimeContainer,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['vllm', 'serve', ...planVllmArgs(service)],
    ports: [{ name: 'http', containerPort: ports.http, protocol: 'TCP' }],
    env: withUsers([...baseVariables, ...acceleratorVariables(service)], service),
    resources: resourcesOf(service, size),
    securityContext: restricted,
    // vLLM writes no reason: its log is read.
    ...terminationMessage,
    ...keepAccepting,
    // It listens once it serves, and answers 503 when its engine has died.
    startupProbe: probe('http', routes.health, startup),
    livenessProbe: probe('http', routes.health, { periodSeconds: 10, failureThreshold: 6 }),
    readinessProbe: probe('http', routes.health, { periodSeconds: 2, failureThreshold: 3 }),
    volumeMounts: [
      { name: 'weights', mountPath: paths.weights, readOnly: true },
      ...checkpointMounts(service),
      { name: 'shared-memory', mountPath: paths.sharedMemory },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

/** Its image is made for root: caches go where any user may write, and nothing is sent or fetched elsewhere. */
const baseVariables: readonly EnvVar[] = [
  { name: 'HOME', value: '/tmp' },
  // A name for libraries that look up the user of a numeric id that no file lists.
  { name: 'USER', value: 'vllm' },
  { name: 'HF_HUB_OFFLINE', value: '1' },
  { name: 'VLLM_NO_USAGE_STATS', value: '1' },
  { name: 'VLLM_DO_NOT_TRACK', value: '1' },
];

/** Estimates: a process per rank in addition to the server's, and on the CPU weights and KV cache too. */
function resourcesOf(service: WantedService, size: CheckpointSize): V1ResourceRequirements {
  const { spec, accelerator, tensor, sharedMemoryBytes } = service;
  const device = deviceAmounts(service);
  const processes = 4 * gib * (1 + tensor);
  const held = accelerator.kind === 'cpu' ? size.weightBytes + kvBytesWithoutLimit : 0;
  const limits = { ...spec.resources?.limits, ...device };
  const requests = {
    memory: spec.resources?.limits?.['memory'] ?? formatMi(processes + held + sharedMemoryBytes),
    ...spec.resources?.requests,
    ...device,
  };
  return withClaims(service, requirementsOf({ limits, requests }));
}
