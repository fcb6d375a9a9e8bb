// Which public hosts a namespace may have, by what the operator's administrator says.

import { matchesGlob } from '../../resource/globs.js';

/** Patterns, see globs.ts. */
export interface RouteHosts {
  /** Of namespaces. */
  readonly namespace: string;
  readonly host: string;
}

/**
 * @param limits empty: any host for any namespace
 * @returns null: the namespace may have the host; else what it may have
 */
export function refusedHost(namespace: string, host: string, limits: readonly RouteHosts[]): string | null {
  if (limits.length === 0) return null;
  const own = limits.filter((each) => matchesGlob(each.namespace, namespace, '/'));
  if (own.some((each) => matchesGlob(each.host, host, '.'))) return null;
  return own.length === 0 ? 'none' : own.map((each) => each.host).join(', ');
}
