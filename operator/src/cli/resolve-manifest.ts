// A manifest with its class: one of the same manifests, or, where the cluster is asked, its own.

import { classApi, type LlmServiceSpec } from '@llmservice/crds';
import { collectionPath, objectPath, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { knownClasses, type KnownClasses } from '../plan/class/known-classes.js';
import { resolveClass } from '../plan/class/resolve-class.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { Cluster } from './cluster.js';
import type { Manifest } from './read-manifests.js';

interface ClassPlaces {
  readonly classes: readonly Manifest[];
  readonly cluster: Pick<Cluster, 'find'> | null;
}

/** Why nothing can be planned. */
interface Unplanned {
  readonly verdict: 'invalid' | 'unreadable';
  readonly modelVerdict: 'invalid' | 'unreadable';
  readonly message: string;
}

const unknownClass: Unplanned = {
  verdict: 'unreadable',
  modelVerdict: 'unreadable',
  message: `spec.className names an ${classApi.kind} that is in none of these manifests: plan with its manifest too, or ask the cluster with --diff`,
};

export function invalid(message: string): Unplanned {
  return { verdict: 'invalid', modelVerdict: 'invalid', message };
}

/** @param live the service as the cluster has it, which keeps what it took of its class before; null: it has none */
export async function resolveManifest(
  object: KubeObject,
  live: KubeObject | null,
  places: ClassPlaces,
): Promise<{ readonly service: WantedService } | Unplanned> {
  const classes = await classesFor(object, places);
  if (classes === null) return unknownClass;
  const parsed = resolveClass({ ...object, status: live?.['status'] }, classes, 'manifest');
  if (parsed.ok) return { service: parsed.service };
  return invalid(parsed.violations.map(({ path, message }) => `${path} ${message}`.trim()).join('; '));
}

/** Null: nobody was asked who could have the class. */
async function classesFor(
  { spec }: KubeObject,
  { classes, cluster }: ClassPlaces,
): Promise<KnownClasses | null> {
  const { className } = (spec ?? {}) as Partial<LlmServiceSpec>;
  const given = classes.map(({ object }) => object);
  const near = given.find(({ metadata }) => metadata.name === className);
  if (className === undefined || near !== undefined) return knownClasses(given);
  if (cluster === null) return null;
  const found = await cluster.find<KubeObject>(objectPath(resources.llmServiceClasses, null, className));
  if (found !== null) return knownClasses([...given, found]);
  const list = await cluster.find<{ items: KubeObject[] }>(collectionPath(resources.llmServiceClasses, null));
  return list === null ? { state: 'absent' } : knownClasses([...given, ...list.items]);
}
