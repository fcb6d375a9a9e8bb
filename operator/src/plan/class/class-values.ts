// What of a class's defaults a service takes: where its own spec names a value, that one holds. Whole fields yield whole; maps
// yield by key, lists of named items by name, and tolerations are joined. Pure, and the same for what was taken before.

import { isDeepStrictEqual } from 'node:util';
import {
  engineVariables,
  getField,
  setField,
  specDefaults,
  withVariables,
  type ClassDefaults,
  type JsonObject,
  type LlmServiceSpec,
} from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';

/** By the names of the fields of a service's spec; only what applies. */
export type ClassValues = JsonObject;

type Merge = 'whole' | 'byKey' | 'byName' | 'joined';

interface Item {
  readonly name?: string;
}

const fields: Readonly<Record<string, Merge>> = {
  'model.s3.endpoint': 'whole',
  'model.s3.region': 'whole',
  'model.s3.credentialsSecretRef': 'whole',
  'model.s3.caConfigMapRef': 'whole',
  'model.hub.endpoint': 'whole',
  'model.hub.tokenSecretRef': 'whole',
  'model.hub.caConfigMapRef': 'whole',
  'model.oci.credentialsSecretRef': 'whole',
  'model.oci.caConfigMapRef': 'whole',
  'model.list.tokenSecretRef': 'whole',
  'model.list.caConfigMapRef': 'whole',
  'model.cache': 'whole',
  'accelerator.profile': 'whole',
  'accelerator.resourceName': 'whole',
  'accelerator.memoryPerDevice': 'whole',
  'engine.image': 'whole',
  env: 'byName',
  'resources.requests': 'byKey',
  'resources.limits': 'byKey',
  nodeSelector: 'byKey',
  affinity: 'whole',
  tolerations: 'joined',
  priorityClassName: 'whole',
  queueName: 'whole',
  topologySpreadConstraints: 'whole',
  runtimeClassName: 'whole',
  serviceAccountName: 'whole',
  imagePullSecrets: 'byName',
  supplementalGroups: 'whole',
  podLabels: 'byKey',
  podAnnotations: 'byKey',
  'scaling.idleAfterSeconds': 'whole',
  'budget.deviceHoursPerMonth': 'whole',
  'routing.host': 'whole',
  networkPolicy: 'whole',
};

/** Fields that say one thing together: where the service names any of them, no value of the class is right beside it. */
const groups: readonly (readonly string[])[] = [
  [
    ...['accelerator.profile', 'accelerator.resourceName', 'accelerator.memoryPerDevice'],
    'accelerator.claim',
  ],
  ['budget.deviceHoursPerMonth', 'budget.costPerMonth'],
  ['model.s3', 'model.hub', 'model.oci', 'model.list'].map((store) => `${store}.caConfigMapRef`),
];

/** The defaults by the names of a service's fields. */
export function asServiceFields(
  { routing, ...defaults }: ClassDefaults,
  { name, namespace = '' }: KubeObject['metadata'],
): ClassValues {
  const { hostSuffix } = routing ?? {};
  return hostSuffix === undefined
    ? defaults
    : { ...defaults, routing: { host: `${name}.${namespace}.${hostSuffix}` } };
}

/** @param own may lack what the API server fills in, as of an older CRD */
export function valuesFor(own: LlmServiceSpec, given: ClassValues): ClassValues {
  const spec = named(own) as unknown as JsonObject;
  const values: ClassValues = {};
  for (const [path, merge] of Object.entries(fields)) {
    const value = getField(given, path);
    if (value === undefined || isTakenBy(path, spec) || !isFitting(path, spec)) continue;
    const rest = restOf(merge, value, getField(spec, path));
    if (rest !== undefined) setField(values, path, path === 'env' ? withoutFields(rest, spec) : rest);
  }
  return values;
}

/** @param values as `valuesFor` gave them for this spec or one before */
export function withClassValues(own: LlmServiceSpec, values: ClassValues): LlmServiceSpec {
  const spec = structuredClone(own);
  const taken = valuesFor(own, values);
  for (const [path, merge] of Object.entries(fields)) {
    const value = getField(taken, path);
    if (value === undefined) continue;
    const before = getField(spec as unknown as JsonObject, path);
    setField(spec as unknown as JsonObject, path, joined(merge, value, before));
  }
  return spec;
}

/** Paths of what is taken, for people. */
export function pathsOf(values: ClassValues): string[] {
  return Object.keys(fields).filter((path) => getField(values, path) !== undefined);
}

/** A variable names the field that it stands for. */
function named(own: LlmServiceSpec): LlmServiceSpec {
  const { model, engine } = own as Partial<LlmServiceSpec>;
  const isWhole = model?.uri !== undefined && engine?.speculative !== undefined;
  return isWhole ? withVariables(own).spec : own;
}

function isNamed(path: string, spec: JsonObject): boolean {
  const value = getField(spec, path);
  return value !== undefined && !isDeepStrictEqual(value, getField(specDefaults, path));
}

function isTakenBy(path: string, spec: JsonObject): boolean {
  const group = groups.find((each) => each.includes(path)) ?? [path];
  return fields[path] === 'whole' && group.some((each) => isNamed(each, spec));
}

/** Some values would have a spec refused for which they are not meant: its owner could not take them out. */
function isFitting(path: string, spec: JsonObject): boolean {
  const { uri = '' } = (spec['model'] ?? {}) as Partial<LlmServiceSpec['model']>;
  if (path.endsWith('.caConfigMapRef')) return path.startsWith(storeOf(uri));
  if (path === 'model.cache') return !uri.startsWith('pvc:') && getField(spec, 'engine.runtime') !== 'vllm';
  if (path === 'routing.host') return getField(spec, 'routing.provider') !== 'none';
  if (path !== 'scaling.idleAfterSeconds') return true;
  const { pathPrefix, backend } = (spec['routing'] ?? {}) as Partial<LlmServiceSpec['routing']>;
  return pathPrefix === undefined && backend !== 'inferencePool';
}

/** Where the field of the store of a URI begins. */
function storeOf(uri: string): string {
  if (/^https?:/.test(uri)) return 'model.list.';
  if (uri.startsWith('hf:')) return 'model.hub.';
  return uri.startsWith('oci:') ? 'model.oci.' : 'model.s3.';
}

/** What of a value is not there yet; undefined: nothing. */
function restOf(merge: Merge, value: unknown, own: unknown): unknown {
  if (merge === 'whole') return value;
  if (merge === 'byKey') {
    const keys = Object.keys(own ?? {});
    const rest = Object.entries(value as object).filter(([key]) => !keys.includes(key));
    return rest.length === 0 ? undefined : Object.fromEntries(rest);
  }
  const items = (own ?? []) as readonly Item[];
  const rest = (value as readonly Item[]).filter(
    (item) =>
      !items.some((each) =>
        merge === 'byName' ? each.name === item.name : isDeepStrictEqual({ ...each }, { ...item }),
      ),
  );
  return rest.length === 0 ? undefined : rest;
}

function joined(merge: Merge, value: unknown, own: unknown): unknown {
  if (merge === 'whole' || own === undefined) return value;
  if (merge === 'byKey') return { ...(own as object), ...(value as object) };
  return [...(own as readonly unknown[]), ...(value as readonly unknown[])];
}

/** A variable that stands for a field yields to that field, which it would contradict. */
function withoutFields(env: unknown, spec: JsonObject): unknown {
  const stand: Readonly<Record<string, { readonly spec: string | null }>> = engineVariables;
  const kept = (env as readonly Item[]).filter(({ name = '' }) => {
    const field = Object.hasOwn(stand, name) ? (stand[name]?.spec ?? null) : null;
    return field === null || !isNamed(field, spec);
  });
  return kept.length === 0 ? undefined : kept;
}
