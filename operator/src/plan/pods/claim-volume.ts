// The claim that a checkpoint lies on, mounted read-only and whole: links within it (those of Hugging Face's cache) lead on.

import type { V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import { paths } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';

const volume = 'checkpoint';

/** Null: it is pulled. */
export function claimOf({ checkpoint }: Pick<WantedService, 'checkpoint'>): string | null {
  return 'claim' in checkpoint ? checkpoint.claim : null;
}

export function claimMounts(service: Pick<WantedService, 'checkpoint'>): V1VolumeMount[] {
  const claim = claimOf(service);
  return claim === null ? [] : [{ name: volume, mountPath: `${paths.claims}/${claim}`, readOnly: true }];
}

/** Read-only for the kubelet too, which then gives none of its files to another group. */
export function claimVolumes(service: Pick<WantedService, 'checkpoint'>): V1Volume[] {
  const claim = claimOf(service);
  return claim === null
    ? []
    : [{ name: volume, persistentVolumeClaim: { claimName: claim, readOnly: true } }];
}
