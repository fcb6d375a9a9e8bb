// vLLM's figures of what its engine may do and this one does in one way, or not at all: dashboards look for them.

import type { Registry } from 'prom-client';
import type { ObservedState } from './engine-metrics.js';
import { ScrapedMetrics, type Labels } from './scraped-metrics.js';

/** Nothing is shared between engines, no media are read, and a token in the cache is computed once. */
const absent = [
  ['vllm:external_prefix_cache_queries_total', 'Prompt tokens looked up in caches of other engines.'],
  ['vllm:external_prefix_cache_hits_total', 'Prompt tokens found in caches of other engines.'],
  ['vllm:mm_cache_queries_total', 'Media looked up in a cache.'],
  ['vllm:mm_cache_hits_total', 'Media found in a cache.'],
  ['vllm:prompt_tokens_recomputed_total', 'Cached prompt tokens that were computed again.'],
] as const;

export function observeEngineState(registry: Registry, labels: Labels, state: () => ObservedState): void {
  const scraped = new ScrapedMetrics(registry, labels);
  scraped.gauges(
    'vllm:engine_sleep_state',
    'Whether there is an engine (awake), or none has weights in memory (discard_all).',
    ['sleep_state'],
    () => {
      const awake = state().engine === null ? 0 : 1;
      const states = { awake, weights_offloaded: 0, discard_all: 1 - awake };
      return Object.entries(states).map(([sleep_state, value]) => ({ value, by: { sleep_state } }));
    },
  );
  scraped.total(
    'vllm:corrupted_requests_total',
    'Requests that ended because of non-finite logits.',
    () => state().engine?.health().numericalFaults.notFinite ?? 0,
  );
  for (const [name, help] of absent) scraped.total(name, help, () => 0);
}
