// The revisions of a service: pod templates as they were planned once, with the config that their pods mount, kept in
// ControllerRevisions. As long as spec and checkpoint stay, the stored template is applied and nothing is planned anew,
// so that another version of the operator, another default image or S3 that is away restart no pod; and the last one
// that was Ready can be gone back to. Neither ReplicaSets nor the live Deployment would do: foreign fields get into
// both, history limits remove the first, and a rollback overwrites the second.

import { parseSmallJson } from '@llmservice/checkpoint';
import { annotations } from '@llmservice/crds';
import { controllerUid } from '../../kube/controller-uid.js';
import type { Deployment, KubeObject } from '../../kube/types.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { revisionName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';
import { contentHash } from '../../domain/content-hash.js';
import { engineConfigKey, planConfigMap } from '../pods/engine-config.js';
import type { NodeRules } from '../pods/node-cache-volume.js';
import type { PlannedTemplate } from '../pods/planned-template.js';
import { specHash } from './spec-hash.js';
import { readStoredTemplate, type StoredTemplate } from './stored-template.js';

/** More than edits make: numbers must be counted on from. */
const maxRevisions = 1_000_000_000;

export interface Revision {
  /** The ControllerRevision as it is planned, its data never changes. */
  readonly object: KubeObject;
  /** Later ones have larger numbers. */
  readonly number: number;
  readonly specHash: string;
  readonly fingerprint: string;
  /** What the fingerprint is of: all files that runtimes read, or only those of earlier releases. */
  readonly files: 'first' | 'former' | 'all';
  readonly template: PlannedTemplate;
}

export function planRevision(
  service: WantedService,
  fingerprint: string,
  template: PlannedTemplate,
  history: readonly Revision[],
): Revision {
  const number = Math.max(0, ...history.map((each) => each.number)) + 1;
  const identity = { specHash: specHash(service), fingerprint, files: 'all' } as const;
  const revision = revisionOf(service, { number, ...identity, template });
  return history.find(({ object }) => object.metadata.name === revision.object.metadata.name) ?? revision;
}

/** With its object, which holds what the template cannot be made from again, and no object to be applied as it is. */
function revisionOf(service: WantedService, revision: Omit<Revision, 'object'>): Revision {
  const { number, specHash: spec, fingerprint, files, template } = revision;
  const hash = contentHash({ spec, fingerprint, revision: template.revision });
  const object = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      ...childMetadata(service, revisionName(service.name, hash)),
      annotations: {
        [annotations.specHash]: spec,
        [annotations.checkpointFingerprint]: fingerprint,
        ...(files === 'first' ? {} : { [annotations.checkpointFiles]: fileNotes[files] }),
        [annotations.revision]: template.revision,
      },
    },
    revision: number,
    data: { config: configText(template.configMap), template: template.pod },
  };
  return { ...revision, object };
}

export interface StoredRevisions {
  /** Oldest first. */
  readonly history: readonly Revision[];
  /** Of the service by their owner, but none that it stored: damaged or forged. They are as good as absent. */
  readonly unreadable: readonly KubeObject[];
}

export function readRevisions(
  objects: readonly KubeObject[],
  service: WantedService,
  rules: NodeRules,
): StoredRevisions {
  // What a service of the same name left behind wants a config that belongs to that one, and that goes with it.
  const ours = objects.filter((object) => controllerUid(object) === service.uid);
  const read = ours.map((object) => ({ object, revision: readRevision(object, service, rules) }));
  return {
    history: read.flatMap(({ revision }) => revision ?? []).sort((a, b) => a.number - b.number),
    unreadable: read.filter(({ revision }) => revision === null).map(({ object }) => object),
  };
}

/** What is stored is data: objects are planned from it anew, under the names and in the namespace of the service. */
function readRevision(object: KubeObject, service: WantedService, rules: NodeRules): Revision | null {
  const notes = object.metadata.annotations ?? {};
  const number = Number(object['revision']);
  const { config, configMap, template: stored } = (object['data'] ?? {}) as StoredData;
  const text = config ?? configText(configMap);
  const hash = configHash(text);
  if (typeof text !== 'string' || hash === null) return null;
  const template = readStoredTemplate(stored, hash, service, rules);
  if (template === null || !Number.isInteger(number) || number < 1 || number > maxRevisions) return null;
  const revision = revisionOf(service, {
    number,
    specHash: notes[annotations.specHash] ?? '',
    fingerprint: notes[annotations.checkpointFingerprint] ?? '',
    files: filesOf(notes[annotations.checkpointFiles]),
    template: {
      configMap: planConfigMap(service, hash, text),
      // As readStoredTemplate judged it.
      pod: template as unknown as PlannedTemplate['pod'],
      revision: notes[annotations.revision] ?? '',
    },
  });
  const isItself = revision.object.metadata.name === object.metadata.name;
  return isItself && revisionIn(template) === revision.template.revision ? revision : null;
}

/** What `all` the former release wrote is no longer all. */
const fileNotes = { former: 'all', all: 'sentences' } as const;

function filesOf(note: string | undefined): Revision['files'] {
  if (note === fileNotes.all) return 'all';
  return note === fileNotes.former ? 'former' : 'first';
}

interface StoredData {
  readonly config?: unknown;
  /** The whole object in place of its text, as older operators stored it. */
  readonly configMap?: unknown;
  readonly template?: unknown;
}

function configText(configMap: unknown): unknown {
  return (configMap as { data?: Readonly<Record<string, unknown>> } | undefined)?.data?.[engineConfigKey];
}

function configHash(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    return contentHash(parseSmallJson(engineConfigKey, text));
  } catch {
    return null;
  }
}

function revisionIn({ metadata }: StoredTemplate): unknown {
  return (metadata['annotations'] as Readonly<Record<string, unknown>>)[annotations.revision];
}

/**
 * The revision planned for this spec and checkpoint; where the checkpoint is not known (null), for the spec. To one of an
 * earlier release the checkpoint is the same whatever the files say that its runtime does not read.
 */
export function pinnedRevision(
  history: readonly Revision[],
  service: WantedService,
  { fingerprint, firstFingerprint, formerFingerprint }: Fingerprints,
): Revision | null {
  const spec = specHash(service);
  const earlier = { first: firstFingerprint, former: formerFingerprint, all: fingerprint };
  const isOfCheckpoint = (each: Revision): boolean =>
    each.fingerprint === fingerprint || each.fingerprint === earlier[each.files];
  const ofSpec = history.filter((each) => each.specHash === spec);
  return (fingerprint === null ? ofSpec.at(-1) : ofSpec.findLast(isOfCheckpoint)) ?? null;
}

interface Fingerprints {
  readonly fingerprint: string | null;
  readonly firstFingerprint: string | null;
  readonly formerFingerprint: string | null;
}

/** The revision that was Ready last. */
export function goodRevision(history: readonly Revision[], deployment: Deployment | null): Revision | null {
  const name = deployment?.metadata.annotations?.[annotations.goodRevision];
  return history.find(({ object }) => object.metadata.name === name) ?? null;
}
