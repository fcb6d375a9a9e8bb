// Whether an object must be applied: what was applied last differs from what is wanted now (known by a hash in an
// annotation), or somebody changed a field that we want otherwise. Foreign fields and list entries are left alone.

import { annotations } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { contentHash } from '../domain/content-hash.js';
import { parseQuantity } from '../resource/quantity.js';

/** The object as it goes to the API server: with the hash of itself. */
export function marked(desired: KubeObject): KubeObject {
  const { metadata } = desired;
  const notes = { ...metadata.annotations, [annotations.applied]: contentHash(desired) };
  return { ...desired, metadata: { ...metadata, annotations: notes } };
}

export function needsApply(desired: KubeObject, live: KubeObject | null): boolean {
  return live === null || !covers(marked(desired), live);
}

/** Whether everything that `desired` says holds in `live`. */
export function covers(desired: unknown, live: unknown): boolean {
  return differences(desired, live).length === 0;
}

/** Where an object is not as it is wanted. */
export interface Difference {
  /** As a person writes it: `spec.template.spec.containers[runtime].image`. */
  readonly path: string;
  /** Undefined: absent. */
  readonly live: unknown;
  readonly desired: unknown;
}

/** Everything that `desired` says and that does not hold in `live`. */
export function differences(desired: unknown, live: unknown, path = ''): Difference[] {
  const whole = [{ path, live, desired }];
  if (desired === undefined) return [];
  // The API server leaves out what equals nothing.
  if (live === undefined || live === null) return isEmpty(desired) ? [] : whole;
  if (Array.isArray(desired)) return Array.isArray(live) ? listDifferences(desired, live, path) : whole;
  if (isRecord(desired)) {
    if (!isRecord(live)) return whole;
    return Object.entries(desired).flatMap(([key, value]) =>
      differences(value, live[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return desired === live || sameQuantity(desired, live) ? [] : whole;
}

/** Lists of named things are matched by name, as server-side apply does; others by position. */
function listDifferences(desired: readonly unknown[], live: readonly unknown[], path: string): Difference[] {
  if (desired.every(isNamed)) {
    return desired.flatMap((item) => {
      const other = live.find((each) => isNamed(each) && each.name === item.name);
      return differences(item, other, `${path}[${item.name}]`);
    });
  }
  if (desired.length !== live.length) return [{ path, live, desired }];
  return desired.flatMap((item, index) => differences(item, live[index], `${path}[${index}]`));
}

/** "1000m" comes back as "1". */
function sameQuantity(a: unknown, b: unknown): boolean {
  if (!isScalar(a) || !isScalar(b)) return false;
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left !== null && right !== null && left === right;
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '' || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNamed(value: unknown): value is { readonly name: string } {
  return isRecord(value) && typeof value['name'] === 'string';
}
