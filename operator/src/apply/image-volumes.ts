// Volumes of images, which an API server without them leaves out of what it stores, with what mounts them, and says nothing:
// pods would start without their checkpoint. Whether it has them is seen in its answer to a dry run.

import { resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';

export class ImageVolumesDroppedError extends Error {
  override readonly name = 'ImageVolumesDroppedError';
  constructor() {
    super(
      'The API server leaves out volumes of images, which Kubernetes has by default from 1.35 on: upgrade it, turn on its feature ' +
        'gate ImageVolume and that of the kubelets (from 1.33 on), or set spec.model.oci.delivery to pull.',
    );
  }
}

interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly volumes?: readonly { readonly image?: unknown }[] };
}

/** Whether the pods of a Deployment or LeaderWorkerSet have any; false of anything else. */
export function hasImageVolumes(object: KubeObject | null): boolean {
  return templateOf(object)?.spec?.volumes?.some(({ image }) => image !== undefined) ?? false;
}

/**
 * What a dry run says it by: a LeaderWorkerSet is stored as its definition has it, whatever becomes of its pods, so that a
 * Deployment of the same pods is tried, under a name that no service has.
 */
export function trialOf(object: KubeObject): KubeObject {
  const { apiVersion, kind } = resources.deployments;
  const template = templateOf(object);
  if (object.kind === kind || template === undefined) return object;
  const { namespace, name } = object.metadata;
  return {
    ...{ apiVersion, kind },
    metadata: { name: `${name}.trial`, ...(namespace === undefined ? {} : { namespace }) },
    spec: { replicas: 0, selector: { matchLabels: { ...template.metadata?.labels } }, template },
  };
}

function templateOf(object: KubeObject | null): PodTemplate | undefined {
  const { template, leaderWorkerTemplate } = (object?.['spec'] ?? {}) as {
    template?: PodTemplate;
    leaderWorkerTemplate?: { workerTemplate?: PodTemplate };
  };
  return template ?? leaderWorkerTemplate?.workerTemplate;
}
