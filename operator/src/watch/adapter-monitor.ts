// Which adapters of its list each ready pod of a service with adapters has loaded.

import type { AdapterReport, LlmService } from '@llmservice/crds';
import type { KubeObject, Pod } from '../kube/types.js';
import { isReady } from '../status/pod-state.js';
import type { Caches } from './caches.js';
import { HealthMonitor } from './health-monitor.js';

/** As many as an engine takes. */
const maxAdapters = 256;

export class AdapterMonitor extends HealthMonitor<AdapterReport> {
  protected isAsked(pod: Pod): boolean {
    return isReady(pod);
  }

  protected read(body: unknown): AdapterReport | null {
    return parseReport(body);
  }
}

/** Pods of services that have adapters. */
export function podsWithAdapters(caches: Pick<Caches, 'llmServices' | 'podsOf'>): Pod[] {
  const services = [...caches.llmServices.values()] as (LlmService & KubeObject)[];
  return services
    .filter(({ spec }) => (spec.adapters ?? []).length > 0)
    .flatMap(({ metadata: { name, namespace = '' } }) => caches.podsOf(namespace, name));
}

/** The `adapters` of a /health body; anything else is null. */
function parseReport(body: unknown): AdapterReport | null {
  const report = (body as { adapters?: Partial<AdapterReport> | null } | null)?.adapters;
  const { list, loaded, failed } = report ?? {};
  if (typeof list !== 'string' || !arePlaces(loaded) || !arePlaces(failed)) return null;
  return { list: list.slice(0, 64), loaded, failed };
}

function arePlaces(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length <= maxAdapters && value.every(Number.isSafeInteger);
}
