// What distinguishes one spec from another: the spec without what no pod depends on, and with what an attempt also depends on.

import { specDefaults, type LlmServiceSpec } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { contentHash } from '../../domain/content-hash.js';

/**
 * Everything of the spec but how many pods, how they are tried and replaced, who reaches them, who stands in and which adapters
 * are beside the model: none is a new attempt. What equals its default is left out, so that a new field of a newer CRD,
 * which the API server fills in, makes no new spec of an old one.
 */
export function specHash({ spec, adapterRoom }: Pick<WantedService, 'spec' | 'adapterRoom'>): string {
  const { rollout, routing, engine, ...rest } = spec;
  return contentHash(
    withoutDefaults(
      {
        ...rest,
        // Pods have the room for adapters, and read at any time which there are.
        adapters: undefined,
        engine: { ...engine, maxAdapters: adapterRoom.max === 0 ? undefined : adapterRoom.max },
        // Its values count.
        className: undefined,
        replicas: undefined,
        stop: undefined,
        scaling: undefined,
        networkPolicy: undefined,
        budget: undefined,
        canary: undefined,
        // Prefill pods are no part of an attempt; decode pods know whether there are any, and what to have them compute.
        disaggregation: spec.disaggregation && { minPromptTokens: spec.disaggregation.minPromptTokens },
        rollout: { ...rollout, strategy: undefined },
        routing: { ...routing, fallback: undefined, backend: undefined },
      },
      specDefaults,
    ),
  );
}

/** What the bounds of a class admit at once: all that its owner decides but for what autoscalers and `stop` say. */
export function admittedHash(spec: LlmServiceSpec): string {
  return contentHash(
    withoutDefaults({ ...spec, className: undefined, replicas: undefined, stop: undefined }, specDefaults),
  );
}

/** What must change before a service that failed terminally is tried again. */
export function planAttempt(service: WantedService, checkpointFingerprint: string): string {
  return contentHash({ spec: specHash(service), checkpointFingerprint, retry: service.retry });
}

function withoutDefaults(value: object, defaults: object): object {
  const kept: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value) as [string, unknown][]) {
    const fallback = (defaults as Record<string, unknown>)[key];
    if (field === undefined || field === fallback) continue;
    const nested = isRecord(field) ? withoutDefaults(field, isRecord(fallback) ? fallback : {}) : field;
    if (isRecord(nested) && isRecord(fallback) && Object.keys(nested).length === 0) continue;
    kept[key] = nested;
  }
  return kept;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
