import type { KubeObject } from './types.js';

/** Of what an object belongs to: its name alone proves nothing, since another of that name may have been before. */
export function controllerUid({ metadata }: KubeObject): string | null {
  return metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid ?? null;
}
