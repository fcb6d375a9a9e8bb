// Whose cached prompts a request may reuse. The prefix cache begins each tree of blocks with a salt, so that requests of
// different salts never meet: neither their usage nor their times reveal each other's prompts.

import type { ConfiguredKey } from '@llmservice/crds';

/**
 * The salt of a key's requests: that of its group, or of the key alone, and the client's own on top.
 * Ids and groups have no spaces, so that different ones never give the same salt.
 */
export function cacheSaltOf({ id, cacheGroup }: ConfiguredKey, own: string | null): string {
  const tenant = cacheGroup === null ? `key ${id}` : `group ${cacheGroup}`;
  return own === null ? tenant : `${tenant} ${own}`;
}
