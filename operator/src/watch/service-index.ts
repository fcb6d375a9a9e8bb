// What services are looked up by: the public host and the class that they name, and the service that stands in for them.

import type { LlmServiceSpec } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { namedHost } from '../plan/traffic/host-claims.js';

export const hostKey = (host: string): string => `host ${host}`;

/** @param key of the service that stands in */
export const fallbackKey = (key: string): string => `fallback ${key}`;

/** @param name of a class; null: of all services that name any */
export const classKey = (name: string | null): string => `class ${name ?? ''}`;

export function serviceIndex(service: KubeObject): string[] {
  const host = namedHost(service);
  // An older CRD does not fill it in.
  const { routing, className } = (service.spec ?? {}) as Partial<LlmServiceSpec>;
  const fallback = routing?.fallback?.service;
  return [
    ...(host === null ? [] : [hostKey(host)]),
    ...(className === undefined ? [] : [classKey(null), classKey(className)]),
    ...(fallback === undefined ? [] : [fallbackKey(`${service.metadata.namespace ?? ''}/${fallback}`)]),
  ];
}
