// Gateways of models for commands that look at clusters, older ones too.

import { ApiError, type KubeClient } from './client.js';
import { collectionPath, resources } from './resources.js';
import type { KubeObject } from './types.js';

/** @param namespace null: all. @returns null where the cluster does not know the kind */
export async function listModelGateways(
  client: Pick<KubeClient, 'listAll'>,
  namespace: string | null,
): Promise<KubeObject[] | null> {
  try {
    return await client.listAll(collectionPath(resources.llmGateways, namespace));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
