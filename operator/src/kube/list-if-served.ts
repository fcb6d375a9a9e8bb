// Lists of kinds that a cluster may not know, for commands that look at clusters, older ones too.

import { ApiError, type KubeClient } from './client.js';
import type { KubeObject } from './types.js';

/** @returns null where the cluster does not know the kind */
export async function listIfServed(
  client: Pick<KubeClient, 'listAll'>,
  path: string,
): Promise<KubeObject[] | null> {
  try {
    return await client.listAll(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
