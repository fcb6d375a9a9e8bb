// A service with its class: the spec that is planned, or what is wrong. What a service took stays until its own spec or the
// annotation changes, whatever becomes of the class. New bounds are for what changes: what runs is only reported. Pure.

import {
  annotations,
  readLlmService,
  readLlmServiceClass,
  classApi,
  type ClassBounds,
  type LlmServiceClass,
  type LlmServiceSpec,
  type LlmServiceStatus,
  type Violation,
} from '@llmservice/crds';
import { contentHash } from '../../domain/content-hash.js';
import type { ClassProblem, ServiceClass, TakenClass } from '../../domain/service-class.js';
import type { WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { parseSpec, type ParsedSpec } from '../../resource/parse-spec.js';
import { admittedHash, specHash } from '../rollouts/spec-hash.js';
import { asServiceFields, pathsOf, valuesFor, withClassValues, type ClassValues } from './class-values.js';
import { beyondBounds, podsBeside } from './class-bounds.js';
import type { KnownClasses } from './known-classes.js';
import { asWritten } from './resolved-object.js';

export type ResolvedSpec =
  | { readonly ok: true; readonly service: WantedService }
  | (Extract<ParsedSpec, { ok: false }> & { readonly serviceClass: ServiceClass });

/**
 * As `parseSpec`, with what the service's class gives.
 * @param running replicas that what holds its pods is asked for; not those that are there while a rollout replaces some
 */
export function resolveClass(
  object: KubeObject,
  classes: KnownClasses,
  origin: 'cluster' | 'manifest' = 'cluster',
  running = (object['status'] as LlmServiceStatus | undefined)?.replicas ?? 0,
): ResolvedSpec {
  const own = ownOf(asWritten(object));
  // What is wrong with it by itself is reported as ever.
  if (own === null) return withState(parseSpec(asWritten(object), origin), { state: 'none' });
  const found = findClass(own.className, classes);
  const before = takenBefore(object, own);
  if (!('spec' in found)) {
    // What its bounds are nobody knows now: a spec that they did not admit waits.
    if (before?.admittedHash !== own.admittedHash) {
      const message = found.message.replace(/^spec\.className /, '');
      const violations = [{ path: 'spec.className', message }];
      return { ok: false, violations, serviceClass: { state: 'refused', problem: found } };
    }
    // Replicas are no part of that: those that it last allowed hold.
    const full = withClassValues(own.spec, before.values);
    const { maxReplicas } = before;
    const kept = withinReplicas(full, maxReplicas === undefined ? {} : { maxReplicas }, running);
    const parsed = parseSpec(withSpec(object, kept), origin);
    return withState(parsed, { state: 'taken', taken: before, problem: found, newer: null });
  }
  return takeFrom(found, { object, own, before, origin, running });
}

interface Own {
  readonly className: string;
  /** With its defaults filled in. */
  readonly spec: LlmServiceSpec;
  readonly specHash: string;
  readonly admittedHash: string;
  readonly refresh: string;
}

interface Taking {
  readonly object: KubeObject;
  readonly own: Own;
  /** What it took before for the same pods; null: nothing. */
  readonly before: TakenClass | null;
  readonly origin: 'cluster' | 'manifest';
  readonly running: number;
}

function takeFrom(
  { metadata, spec }: LlmServiceClass,
  { object, own, before, origin, running }: Taking,
): ResolvedSpec {
  const current = valuesFor(own.spec, asServiceFields(spec.defaults ?? {}, object.metadata));
  const values: ClassValues = before === null ? current : before.values;
  const isCurrent = contentHash(values) === contentHash(current);
  const generation = isCurrent ? (metadata.generation ?? 0) : (before?.generation ?? 0);
  const { specHash: hash, refresh, className: name } = own;
  const newer = isCurrent
    ? null
    : { generation: metadata.generation ?? 0, fields: changedFields(values, current) };
  const bounds = spec.bounds ?? {};
  const { maxReplicas } = bounds;
  const taken: TakenClass = {
    ...{ name, generation, specHash: hash, refresh, values },
    admittedHash: own.admittedHash,
    ...(maxReplicas === undefined ? {} : { maxReplicas }),
  };
  const isAdmitted = before !== null && before.admittedHash === own.admittedHash;
  const full = withClassValues(own.spec, values);
  const kept = isAdmitted ? withinReplicas(full, bounds, running) : full;
  const parsed = parseSpec(withSpec(object, kept), origin);
  if (!parsed.ok) return withState(attributed(parsed, values, name), { state: 'none' });
  // Of the replicas those count that were asked for.
  const { replicas, scaling } = full;
  const asked = { ...parsed.service.spec, replicas, scaling };
  const violations = beyondBounds(asked, bounds, name);
  if (violations.length === 0) return withState(parsed, { state: 'taken', taken, problem: null, newer });
  const problem: ClassProblem = { reason: 'OutOfBounds', message: messageOf(violations, isAdmitted) };
  if (!isAdmitted) return { ok: false, violations, serviceClass: { state: 'refused', problem } };
  return withState(parsed, { state: 'taken', taken, problem, newer });
}

/** Null: it names no class, or is not valid by its schema. */
function ownOf(object: KubeObject): Own | null {
  const { className } = (object['spec'] ?? {}) as Partial<LlmServiceSpec>;
  if (className === undefined) return null;
  const checked = readLlmService(
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'status')),
  );
  if (!checked.ok) return null;
  const { spec, metadata } = checked.value;
  const adapterRoom = {
    max: spec.engine.maxAdapters ?? spec.adapters?.length ?? 0,
    maxRank: spec.engine.maxAdapterRank,
  };
  return {
    ...{ className, spec, specHash: specHash({ spec, adapterRoom }), admittedHash: admittedHash(spec) },
    refresh: (metadata.annotations?.[annotations.refreshClass] ?? '').slice(0, maxRefreshCharacters),
  };
}

/** As the status may keep. */
const maxRefreshCharacters = 256;

function takenBefore({ status }: KubeObject, own: Own): TakenClass | null {
  const taken = (status as LlmServiceStatus | undefined)?.class;
  if (taken === undefined) return null;
  const isSame = taken.name === own.className && taken.specHash === own.specHash;
  return isSame && taken.refresh === own.refresh ? taken : null;
}

function findClass(name: string, classes: KnownClasses): LlmServiceClass | ClassProblem {
  const named = `spec.className names ${classApi.kind} ${name}`;
  if (classes.state === 'absent') {
    return {
      reason: 'ClassNotServed',
      message: `${named}, and the cluster does not know the kind; upgrade the chart llmservice-operator, which brings it, or remove className`,
    };
  }
  if (classes.state === 'forbidden') {
    return {
      reason: 'ClassNotReadable',
      message: `${named}, which the operator may not read: give its account get, list and watch of ${classApi.plural} by a ClusterRole (deploy/docs/classes.md), or remove className`,
    };
  }
  const object = classes.get(name);
  if (object === null) {
    const names = classes.names();
    const shown = names.slice(0, maxNames).join(', ');
    const there =
      names.length === 0 ? 'there is none' : `there are ${shown}${names.length > maxNames ? ', …' : ''}`;
    return {
      reason: 'ClassNotFound',
      message: `${named}, which does not exist (${there}); create it, or name another`,
    };
  }
  const read = readLlmServiceClass(object);
  if (read.ok) return read.value;
  const list = read.violations.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return { reason: 'ClassInvalid', message: `${named}, which is not valid: ${list}; have it corrected` };
}

const maxNames = 8;

/** Autoscalers, schedules and people may lower what is too much, and not raise it; what runs stays. */
function withinReplicas(spec: LlmServiceSpec, { maxReplicas }: ClassBounds, running: number): LlmServiceSpec {
  if (maxReplicas === undefined) return spec;
  const beside = podsBeside(spec).reduce((sum, [, pods]) => sum + pods, 0);
  const room = Math.max(1, maxReplicas - beside);
  const within = (replicas: number): number =>
    replicas <= room ? replicas : Math.max(room, Math.min(replicas, running));
  const { minReplicas, maxReplicas: most, schedules } = spec.scaling;
  const scaling = {
    ...spec.scaling,
    ...(minReplicas === undefined ? {} : { minReplicas: within(minReplicas) }),
    ...(most === undefined ? {} : { maxReplicas: within(most) }),
    ...(schedules === undefined
      ? {}
      : { schedules: schedules.map((each) => ({ ...each, minReplicas: within(each.minReplicas) })) }),
  };
  return { ...spec, replicas: within(spec.replicas), scaling };
}

function messageOf(violations: readonly Violation[], isAdmitted: boolean): string {
  const list = violations.map(({ path, message }) => `${path} ${message}`).join('; ');
  return isAdmitted
    ? `The service was admitted before, and nothing is stopped, but no replica is added beyond the bounds: ${list}.`
    : `${list}.`;
}

/** Whose field it is that the owner of the service did not write. */
function attributed<T extends { readonly violations: readonly Violation[] }>(
  parsed: T,
  values: ClassValues,
  name: string,
): T {
  const given = pathsOf(values).map((path) => `spec.${path}`);
  const violations = parsed.violations.map(({ path, message }) =>
    given.some((each) => path.startsWith(each))
      ? { path, message: `${message} (of ${classApi.kind} ${name})` }
      : { path, message },
  );
  return { ...parsed, violations };
}

function changedFields(before: ClassValues, now: ClassValues): string[] {
  return [...new Set([...pathsOf(before), ...pathsOf(now)])].filter(
    (path) => contentHash(fieldOf(before, path)) !== contentHash(fieldOf(now, path)),
  );
}

function fieldOf(values: ClassValues, path: string): unknown {
  return (
    path.split('.').reduce<unknown>((value, key) => (value as ClassValues | undefined)?.[key], values) ?? null
  );
}

function withSpec(object: KubeObject, spec: LlmServiceSpec): KubeObject {
  return { ...object, spec };
}

function withState(parsed: ParsedSpec, serviceClass: ServiceClass): ResolvedSpec {
  return parsed.ok ? { ok: true, service: { ...parsed.service, serviceClass } } : { ...parsed, serviceClass };
}
