// From an LlmService as the API server gives it to one complete, typed value, or to every violation at once.
// The API server has checked schema and CEL rules already; they are checked again because its copy of the CRD may be older.

import { sharedMemoryNeeded } from '@llmservice/checkpoint';
import {
  annotations,
  readLlmService,
  validateLlmService,
  withVariables,
  type LlmServiceSpec,
  type Violation,
} from '@llmservice/crds';
import type { Accelerator, WantedService } from '../domain/wanted-service.js';
import type { KubeObject } from '../kube/types.js';
import { parseAdapters } from './adapters.js';
import { crossFieldViolations } from './cross-field-rules.js';
import { deviceClaimOf } from './device-claim.js';
import { readFields, resourceNameOf, type Fields } from './field-rules.js';
import { parseNodeCache } from './node-cache.js';
import { ruleViolations } from './spec-rules.js';

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

  const fields = readFields(spec, violations);
  const cache = parseNodeCache(spec.model.cache, violations);
  const adapters = parseAdapters(spec.adapters ?? [], violations);
  violations.push(...crossFieldViolations(spec, object.metadata));
  const { checkpoint, head, kind } = fields;
  const broken = ruleViolations(rechecked.value);
  if (checkpoint === null || kind === null || violations.length + broken.length > 0) {
    // Of a field that breaks a rule of the CRD, what its parser says is the same in other words.
    const others = violations.filter(({ path }) => !broken.some((rule) => rule.path === path));
    return { ok: false, violations: [...broken, ...others] };
  }

  const { nodes, pipeline } = spec.parallelism;
  const tensor = spec.parallelism.tensor ?? spec.accelerator.devices / pipeline;
  const ranks = tensor * pipeline;
  // Each pod has the areas of all ranks, also of those in others.
  const sharedMemoryBytes =
    fields.sharedMemory ?? defaultSharedMemory(kind, { tensor, pipeline }, spec.engine.runtime);
  const { name, namespace = '', uid = '', generation = 0, annotations: notes } = object.metadata;
  return {
    ok: true,
    service: {
      namespace,
      name,
      uid,
      generation,
      spec,
      serviceClass: { state: 'none' },
      modelName: spec.model.name ?? name,
      checkpoint,
      head,
      adapters,
      adapterRoom: { max: spec.engine.maxAdapters ?? adapters.length, maxRank: spec.engine.maxAdapterRank },
      cache,
      accelerator: acceleratorOf(spec.accelerator, kind, fields, sharedMemoryBytes),
      tensor,
      pipeline,
      nodes,
      podRanks: ranks / nodes,
      sharedMemoryBytes,
      retry: notes?.[annotations.retry] ?? '',
      promote: notes?.[annotations.promote] ?? '',
      lastRequest: notes?.[annotations.lastRequest] ?? '',
    },
  };
}

function acceleratorOf(
  spec: LlmServiceSpec['accelerator'],
  kind: Accelerator['kind'],
  { profile, memoryPerDevice, memoryLimit }: Fields,
  sharedMemoryBytes: number,
): Accelerator {
  // What lies in /dev/shm counts against the container's memory limit.
  const ofLimit =
    kind === 'cpu' && memoryLimit !== null ? Math.max(1, memoryLimit - sharedMemoryBytes) : null;
  return {
    kind,
    resourceName: kind === 'cpu' || spec.claim !== undefined ? null : resourceNameOf(spec),
    claim: deviceClaimOf(spec.claim, profile),
    devices: spec.devices,
    memoryBytesPerDevice: memoryPerDevice ?? (profile === null ? ofLimit : profile.memoryMiB * mib),
    env: profile?.env ?? vendorVariables[kind],
  };
}

/** Where no profile says more. AMD's, as its guides to serving have it: arguments of kernels lie in device memory. */
const vendorVariables: Readonly<Record<Accelerator['kind'], Accelerator['env']>> = {
  cpu: {},
  cuda: {},
  hip: { HIP_FORCE_DEV_KERNARG: '1' },
};

/** What ranks on the CPU exchange data over is known; with devices the reference deployment's 8 Gi shows the scale. */
function defaultSharedMemory(
  kind: Accelerator['kind'],
  { tensor, pipeline }: Pick<WantedService, 'tensor' | 'pipeline'>,
  runtime: LlmServiceSpec['engine']['runtime'],
): number {
  const ranks = tensor * pipeline;
  // vLLM's processes pass messages through it, of one rank too.
  if (runtime === 'vllm') return (kind === 'cpu' ? 512 : 1024) * mib * tensor;
  if (ranks === 1) return 64 * mib;
  return kind === 'cpu' ? 64 * mib + sharedMemoryNeeded(tensor, pipeline) : 1024 * mib * ranks;
}
