// The volume that a checkpoint lies on which is not pulled, mounted read-only and whole: a claim, in which links may lead on
// (those of Hugging Face's cache), or an artifact of a registry, which the kubelet pulls as an image.

import type { V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { OciPlace } from '@llmservice/checkpoint/oci';
import { paths } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { isImageVolume } from '../../resource/store-access.js';

type Wanted = Pick<WantedService, 'checkpoint' | 'spec'>;

const volume = 'checkpoint';

/** Where the checkpoint's folder lies in a pod; null: it is pulled. */
export function mountedFolder(service: Wanted): string | null {
  const root = rootOf(service);
  const { checkpoint } = service;
  return root === null || !('folder' in checkpoint) ? null : `${root}/${checkpoint.folder}`;
}

export function checkpointMounts(service: Wanted): V1VolumeMount[] {
  const root = rootOf(service);
  return root === null ? [] : [{ name: volume, mountPath: root, readOnly: true }];
}

/** @param digest of the artifact's manifest; absent: it was not read, and what the URI names is mounted */
export function checkpointVolumes(service: Wanted, digest: string | undefined): V1Volume[] {
  const { checkpoint } = service;
  // Read-only for the kubelet too, which then gives none of its files to another group.
  if ('claim' in checkpoint)
    return [{ name: volume, persistentVolumeClaim: { claimName: checkpoint.claim, readOnly: true } }];
  if (!('registry' in checkpoint) || !isImageVolume(service)) return [];
  return [{ name: volume, image: { reference: imageName(checkpoint, digest), pullPolicy: 'IfNotPresent' } }];
}

function rootOf(service: Wanted): string | null {
  const { checkpoint } = service;
  if ('claim' in checkpoint) return `${paths.claims}/${checkpoint.claim}`;
  return isImageVolume(service) ? paths.modelImage : null;
}

function imageName({ registry, repository, reference }: OciPlace, digest = reference): string {
  return `${registry}/${repository}${digest.includes(':') ? '@' : ':'}${digest}`;
}
