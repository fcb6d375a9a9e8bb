// The revisions of a service: pod templates as they were planned once, with the config that their pods mount, kept in
// ControllerRevisions. As long as spec and checkpoint stay, the stored template is applied and nothing is planned anew,
// so that another version of the operator, another default image or S3 that is away restart no pod; and the last one
// that was Ready can be gone back to. Neither ReplicaSets nor the live Deployment would do: foreign fields get into
// both, history limits remove the first, and a rollback overwrites the second.

import type { Deployment, KubeObject } from '../../kube/types.js';
import type { WantedService } from '../../spec/parse-spec.js';
import { childMetadata } from '../identity/child-metadata.js';
import { contentHash } from '../identity/content-hash.js';
import type { PlannedTemplate } from '../pods/planned-template.js';
import { revisionAnnotation } from '../pods/pod-template.js';
import { specHash, specHashAnnotation } from './spec-hash.js';

const fingerprintAnnotation = 'llmservice.dev/checkpoint-fingerprint';
/** On the Deployment: the revision that was Ready last. */
export const goodRevisionAnnotation = 'llmservice.dev/good-revision';

export interface Revision {
  /** The ControllerRevision; its data never changes. */
  readonly object: KubeObject;
  /** Later ones have larger numbers. */
  readonly number: number;
  readonly specHash: string;
  readonly fingerprint: string;
  readonly template: PlannedTemplate;
}

export function planRevision(
  service: WantedService,
  fingerprint: string,
  template: PlannedTemplate,
  history: readonly Revision[],
): Revision {
  const spec = specHash(service);
  const hash = contentHash({ spec, fingerprint, revision: template.revision });
  const known = history.find(({ object }) => object.metadata.name === `${service.name}-${hash}`);
  if (known !== undefined) return known;
  const number = Math.max(0, ...history.map((revision) => revision.number)) + 1;
  const object = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      ...childMetadata(service, `${service.name}-${hash}`),
      annotations: {
        [specHashAnnotation]: spec,
        [fingerprintAnnotation]: fingerprint,
        [revisionAnnotation]: template.revision,
      },
    },
    revision: number,
    data: { configMap: template.configMap, template: template.pod },
  };
  return { object, number, specHash: spec, fingerprint, template };
}

/** Oldest first. */
export function readRevisions(objects: readonly KubeObject[]): Revision[] {
  return objects.map(readRevision).sort((a, b) => a.number - b.number);
}

function readRevision(object: KubeObject): Revision {
  const notes = object.metadata.annotations ?? {};
  const { configMap, template } = object['data'] as { configMap: KubeObject; template: object };
  return {
    object,
    number: Number(object['revision']),
    specHash: notes[specHashAnnotation] ?? '',
    fingerprint: notes[fingerprintAnnotation] ?? '',
    template: { configMap, pod: template, revision: notes[revisionAnnotation] ?? '' },
  };
}

/** The revision planned for this spec and checkpoint; where the checkpoint is not known (null), for the spec. */
export function pinnedRevision(
  history: readonly Revision[],
  service: WantedService,
  fingerprint: string | null,
): Revision | null {
  const spec = specHash(service);
  return (
    history.findLast(
      (each) => each.specHash === spec && (fingerprint === null || each.fingerprint === fingerprint),
    ) ?? null
  );
}

/** The revision that was Ready last. */
export function goodRevision(history: readonly Revision[], deployment: Deployment | null): Revision | null {
  const name = deployment?.metadata.annotations?.[goodRevisionAnnotation];
  return history.find(({ object }) => object.metadata.name === name) ?? null;
}
