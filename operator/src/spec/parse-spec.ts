// From an LlmService as the API server gives it to one complete, typed value, or to every violation at once.
// The API server has checked schema and CEL rules already; they are checked again because its copy of the CRD may be older.

import { sharedMemoryNeeded, splitGgufPath } from '@llmservice/checkpoint';
import {
  annotations,
  findAccelerator,
  profilesLike,
  readLlmService,
  validateLlmService,
  withVariables,
  type Accelerator as AcceleratorProfile,
  type LlmServiceSpec,
  type Violation,
} from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { isHttpUrl } from './http-url.js';
import { parseNodeCache, type NodeCache } from './node-cache.js';
import { objectNameViolations } from './object-names.js';
import { isAmount, notAnAmount, parseQuantity } from './quantity.js';
import { ruleViolations } from './spec-rules.js';
import { scalingViolations } from './scaling-rules.js';

export interface CheckpointLocation {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** The GGUF file below it that is meant; null for the folder. */
  readonly file: string | null;
}

interface Accelerator {
  readonly kind: 'cpu' | 'cuda' | 'hip';
  /** Extended resource; null on the CPU. */
  readonly resourceName: string | null;
  readonly devices: number;
  /** Null where nobody said: the engine measures it on the device. */
  readonly memoryBytesPerDevice: number | null;
  /** What its profile gives the pods. */
  readonly env: Readonly<Record<string, string>>;
}

/** A service as wanted. */
export interface WantedService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: LlmServiceSpec;
  /** The name that clients send. */
  readonly modelName: string;
  readonly checkpoint: CheckpointLocation;
  /** Where the layer for multi-token prediction comes from if the checkpoint has none; null: nowhere. */
  readonly head: CheckpointLocation | null;
  /** Null: each pod pulls its own copy. */
  readonly cache: NodeCache | null;
  readonly accelerator: Accelerator;
  readonly tensor: number;
  readonly sharedMemoryBytes: number;
  /** Value of the retry annotation; empty when absent. */
  readonly retry: string;
  /** Value of the activators' annotation; empty when absent. */
  readonly lastRequest: string;
}

export type ParsedSpec =
  | { readonly ok: true; readonly service: WantedService }
  | { readonly ok: false; readonly violations: readonly Violation[] };

const mib = 2 ** 20;

/** @param origin of the object: in a manifest an unknown field is a mistake, in the API server's a newer CRD's */
export function parseSpec(object: KubeObject, origin: 'cluster' | 'manifest' = 'cluster'): ParsedSpec {
  const check = origin === 'cluster' ? readLlmService : validateLlmService;
  // The status is the operator's own and may be of another version: it is not judged.
  const checked = check(Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'status')));
  if (!checked.ok) return checked;

  const { spec, violations } = withVariables(checked.value.spec);
  // A variable's value meets the same schema as the field that it stands for.
  const rechecked = check({ ...checked.value, spec });
  if (!rechecked.ok) return { ok: false, violations: [...violations, ...rechecked.violations] };

  const quantity = (path: string, text: string | number | undefined): number | null => {
    if (text === undefined) return null;
    const value = parseQuantity(text);
    if (!isAmount(value)) {
      violations.push({ path, message: notAnAmount });
      return null;
    }
    // Bytes: a status with a part of one would be refused.
    return Math.ceil(value);
  };

  const checkpoint = parseCheckpointUri(spec.model.uri);
  if (checkpoint === null)
    violations.push({
      path: 'spec.model.uri',
      message: 'must be s3://BUCKET/PREFIX/ or s3://BUCKET/PREFIX/NAME.gguf',
    });
  const log = spec.requestLog;
  if (log !== undefined && parseCheckpointUri(log.uri)?.file !== null) {
    violations.push({ path: 'spec.requestLog.uri', message: 'must be s3://BUCKET/PREFIX/, a folder' });
  }
  const head = parseHead(spec.engine.speculative, violations);
  const cache = parseNodeCache(spec.model.cache, violations);
  const { endpoint } = spec.model.s3;
  if (endpoint !== undefined && !isHttpUrl(endpoint)) {
    violations.push({
      path: 'spec.model.s3.endpoint',
      message: 'must be a URL that begins with http:// or https://',
    });
  }
  const profile = parseProfile(spec.accelerator, violations);
  const resourceName =
    spec.accelerator.resourceName === 'none' && profile !== null
      ? (profile.resources[0] ?? 'none')
      : spec.accelerator.resourceName;
  const kind = acceleratorKind(resourceName);
  if (kind === null) {
    violations.push({
      path: 'spec.accelerator.resourceName',
      message: 'must be none, or a resource of amd.com or nvidia.com',
    });
  }
  const devices = spec.accelerator.devices;
  const tensor = spec.parallelism.tensor ?? devices;
  if (
    spec.scaling.idleAfterSeconds !== undefined &&
    isClusterName(spec.routing.host ?? '', object.metadata)
  ) {
    const message =
      'is for services whose routing.host does not have svc as its third label: the activator takes it for a ' +
      'name inside the cluster; choose another host';
    violations.push({ path: 'spec.scaling.idleAfterSeconds', message });
  }
  violations.push(...scalingViolations(spec), ...objectNameViolations(spec));
  const sharedMemory = quantity('spec.sharedMemory.sizeLimit', spec.sharedMemory.sizeLimit);
  const stated = quantity('spec.accelerator.memoryPerDevice', spec.accelerator.memoryPerDevice);
  const limit = quantity('spec.resources.limits.memory', spec.resources?.limits?.['memory']);
  const broken = ruleViolations(rechecked.value);
  if (checkpoint === null || kind === null || violations.length + broken.length > 0) {
    // Of a field that breaks a rule of the CRD, what its parser says is the same in other words.
    const others = violations.filter(({ path }) => !broken.some((rule) => rule.path === path));
    return { ok: false, violations: [...broken, ...others] };
  }

  const sharedMemoryBytes = sharedMemory ?? defaultSharedMemory(kind, tensor, spec.engine.runtime);
  // What lies in /dev/shm counts against the container's memory limit.
  const ofLimit = kind === 'cpu' && limit !== null ? Math.max(1, limit - sharedMemoryBytes) : null;
  const { name, namespace = '', uid = '', generation = 0 } = object.metadata;
  return {
    ok: true,
    service: {
      namespace,
      name,
      uid,
      generation,
      spec,
      modelName: spec.model.name ?? name,
      checkpoint,
      head,
      cache,
      accelerator: {
        kind,
        resourceName: kind === 'cpu' ? null : resourceName,
        devices,
        memoryBytesPerDevice: stated ?? (profile === null ? ofLimit : profile.memoryMiB * mib),
        env: profile?.env ?? vendorVariables[kind],
      },
      tensor,
      sharedMemoryBytes,
      retry: object.metadata.annotations?.[annotations.retry] ?? '',
      lastRequest: object.metadata.annotations?.[annotations.lastRequest] ?? '',
    },
  };
}

/** Whether a host is read as NAME.NAMESPACE.svc of another service (see the activator's service-of-host.ts). */
function isClusterName(host: string, { name, namespace }: KubeObject['metadata']): boolean {
  const [first, second, third] = host.split('.');
  return third === 'svc' && !(first === name && second === namespace);
}

/** Where no profile says more. AMD's, as its guides to serving have it: arguments of kernels lie in device memory. */
const vendorVariables: Readonly<Record<Accelerator['kind'], Accelerator['env']>> = {
  cpu: {},
  cuda: {},
  hip: { HIP_FORCE_DEV_KERNARG: '1' },
};

/** Null: none was named, or none that is known. */
function parseProfile(
  { profile: name, resourceName }: LlmServiceSpec['accelerator'],
  violations: Violation[],
): AcceleratorProfile | null {
  if (name === undefined) return null;
  const profile = findAccelerator(name);
  if (profile === null) {
    const message = `is no profile of deploy/docs/accelerators.md; there are ${profilesLike(name).join(', ')}`;
    violations.push({ path: 'spec.accelerator.profile', message });
  } else if (resourceName !== 'none' && !profile.resources.includes(resourceName)) {
    const message = `is not what ${name} is asked for by: ${profile.resources.join(' or ')}`;
    violations.push({ path: 'spec.accelerator.resourceName', message });
  }
  return profile;
}

function parseHead(
  speculative: LlmServiceSpec['engine']['speculative'],
  violations: Violation[],
): CheckpointLocation | null {
  const { uri } = speculative;
  if (uri === undefined) return null;
  const location = parseCheckpointUri(uri);
  const path = 'spec.engine.speculative.uri';
  if (location === null || location.file !== null) {
    violations.push({ path, message: 'must be s3://BUCKET/PREFIX/, a folder with safetensors' });
  }
  return location;
}

/** What ranks on the CPU exchange data over is known; with devices the reference deployment's 8 Gi shows the scale. */
function defaultSharedMemory(
  kind: Accelerator['kind'],
  tensor: number,
  runtime: LlmServiceSpec['engine']['runtime'],
): number {
  // vLLM's processes pass messages through it, of one rank too.
  if (runtime === 'vllm') return (kind === 'cpu' ? 512 : 1024) * mib * tensor;
  if (tensor === 1) return 64 * mib;
  return kind === 'cpu' ? 64 * mib + sharedMemoryNeeded(tensor) : 1024 * mib * tensor;
}

/** `s3://bucket/prefix`, with or without the last slash, or `s3://bucket/prefix/name.gguf`. */
export function parseCheckpointUri(uri: string): CheckpointLocation | null {
  const match = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]*)(?:\/([^?#\s]*))?$/.exec(uri);
  if (match === null) return null;
  const bucket = match[1] ?? '';
  const gguf = splitGgufPath(match[2] ?? '');
  if (gguf !== null) return { bucket, prefix: gguf.folder, file: gguf.file };
  const prefix = (match[2] ?? '').replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/`, file: null };
}

function acceleratorKind(resourceName: string): Accelerator['kind'] | null {
  if (resourceName === 'none') return 'cpu';
  if (resourceName.startsWith('amd.com/')) return 'hip';
  return resourceName.startsWith('nvidia.com/') ? 'cuda' : null;
}
