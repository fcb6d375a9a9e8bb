// The adapters that pods are to serve: those of the spec that were found good. In the place of one that was not stands
// what the list has under its name, which may be of another URI: what is served stays until something better is there.

import { adapterListFile, type ListedAdapter } from '@llmservice/crds';
import type { RefusedAdapter } from '../../domain/checkpoint.js';
import type { KubeObject } from '../../kube/types.js';

/**
 * @param refused of the spec's list
 * @param live the list of the pods; null: there is none
 */
export function listedAdapters(
  adapters: readonly ListedAdapter[],
  refused: readonly RefusedAdapter[],
  live: KubeObject | null,
): readonly ListedAdapter[] {
  const before = refused.length === 0 ? [] : listOf(live);
  return adapters.flatMap((adapter, at) => {
    const isRefused = refused.some((each) => each.at === at);
    const listed = isRefused ? before.find(({ name }) => name === adapter.name) : adapter;
    return listed === undefined ? [] : [{ name: listed.name, uri: listed.uri }];
  });
}

/** Empty where somebody broke it. */
function listOf(live: KubeObject | null): readonly ListedAdapter[] {
  const data = live?.['data'] as Partial<Record<string, string>> | undefined;
  try {
    const list: unknown = JSON.parse(data?.[adapterListFile] ?? '[]');
    return Array.isArray(list) ? list.filter(isListed) : [];
  } catch {
    return [];
  }
}

function isListed(entry: unknown): entry is ListedAdapter {
  const { name, uri } = (entry ?? {}) as Partial<Record<keyof ListedAdapter, unknown>>;
  return typeof name === 'string' && typeof uri === 'string';
}
