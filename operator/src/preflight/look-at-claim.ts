// What the API server says of the claim that a checkpoint lies on: that is all the operator can know of it. What lies there is
// judged by the pods, which mount it.

import type { ClaimPlace } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { contentHash } from '../domain/content-hash.js';
import type { Checkpoint } from '../domain/checkpoint.js';
import { ApiError, type KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';

/** Of v1/PersistentVolumeClaim, what is read. */
interface Claim {
  readonly metadata?: { readonly uid?: string; readonly deletionTimestamp?: string };
  readonly spec?: { readonly accessModes?: readonly string[]; readonly volumeMode?: string };
  /** Absent: of a manifest that is not applied yet. */
  readonly status?: { readonly phase?: string; readonly accessModes?: readonly string[] };
}

/** Gives an object of the API by its path. */
type Finder = Pick<KubeClient, 'find'>;

/** By which pods on several nodes may mount it. */
const many: readonly string[] = ['ReadOnlyMany', 'ReadWriteMany'];

/** @throws FailureError ClaimNotFound, ClaimUnusable; ApiError */
export async function lookAtClaim(client: Finder, namespace: string, place: ClaimPlace): Promise<Checkpoint> {
  const { claim: name } = place;
  const claim = await find(client, namespace, name);
  if (claim !== 'forbidden') refuseUnusable(claim, name);
  const { uid = null } = claim === 'forbidden' ? {} : (claim.metadata ?? {});
  const modes = claim === 'forbidden' ? [] : modesOf(claim);
  return {
    model: null,
    weightBytes: 0,
    fileBytes: 0,
    // What is put on the claim leaves no trace that the operator could see.
    fingerprint: contentHash({ ...place, uid }),
    claim: {
      name,
      onePod: modes.length > 0 && !modes.some((mode) => many.includes(mode)),
      found: foundOf(claim, name, modes),
    },
  };
}

async function find(client: Finder, namespace: string, name: string): Promise<Claim | 'forbidden'> {
  try {
    const found = await client.find<Claim>(objectPath(resources.volumeClaims, namespace, name));
    if (found !== null) return found;
  } catch (error) {
    // By the chart of an earlier release: the pods find out.
    if (error instanceof ApiError && error.status === 403) return 'forbidden';
    throw error;
  }
  const message = `there is no PersistentVolumeClaim ${name} in the namespace ${namespace}`;
  throw new FailureError('ClaimNotFound', message);
}

function refuseUnusable({ metadata, spec, status }: Claim, name: string): void {
  if (metadata?.deletionTimestamp !== undefined)
    throw new FailureError(
      'ClaimUnusable',
      `the PersistentVolumeClaim ${name} is being deleted: it is kept only until the last pod that uses it ends`,
    );
  if (spec?.volumeMode === 'Block')
    throw new FailureError(
      'ClaimUnusable',
      `the PersistentVolumeClaim ${name} has volumeMode Block, which holds no files; expected is Filesystem`,
    );
  if (status?.phase === 'Lost')
    throw new FailureError(
      'ClaimUnusable',
      `the PersistentVolumeClaim ${name} is Lost: the volume that it was bound to is gone`,
    );
}

/** Those of the volume, once there is one. */
function modesOf({ spec, status }: Claim): readonly string[] {
  return status?.accessModes ?? spec?.accessModes ?? [];
}

function foundOf(claim: Claim | 'forbidden', name: string, modes: readonly string[]): string {
  if (claim === 'forbidden')
    return `The operator may not read the claim ${name}: install its chart anew, whose role allows get of persistentvolumeclaims`;
  if (claim.status === undefined) return `Whether the claim ${name} is bound is not known yet`;
  const named = `The claim ${name} (${modes.join(', ')})`;
  return claim.status.phase === 'Bound'
    ? `${named} is bound`
    : `${named} is not bound yet; some classes bind it when a pod is scheduled`;
}
