// Volumes of images, which an API server without them leaves out of what it stores, with what mounts them, and says nothing:
// pods would start without their checkpoint. Whether it has them is seen in its answer to a dry run.

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

/** Whether a Deployment's pods have any; false of anything else. */
export function hasImageVolumes(object: KubeObject | null): boolean {
  const { template } = (object?.['spec'] ?? {}) as {
    template?: { spec?: { volumes?: readonly { image?: unknown }[] } };
  };
  return template?.spec?.volumes?.some(({ image }) => image !== undefined) ?? false;
}
