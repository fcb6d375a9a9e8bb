// vLLM's facts of the KV cache. Blocks are counted anew by each engine process: what it found room for.

import type { Registry } from 'prom-client';
import type { ObservedState } from './engine-metrics.js';
import { ScrapedMetrics, type Labels } from './scraped-metrics.js';

/** What is asked of the KV cache. */
export interface CacheConfig {
  readonly blockSize: number;
  readonly dtype: string;
  /** `auto`: as dtype. */
  readonly kvCacheDtype: string;
  readonly memoryUtilizationPercent: number;
  readonly prefixCaching: boolean;
}

/** @param config null before a model is served */
export function observeCache(
  registry: Registry,
  labels: Labels,
  config: () => CacheConfig | null,
  observed: () => ObservedState,
): void {
  const by = [
    'block_size',
    'num_gpu_blocks',
    'cache_dtype',
    'gpu_memory_utilization',
    'enable_prefix_caching',
  ];
  new ScrapedMetrics(registry, labels).info(
    'vllm:cache_config_info',
    'Facts of the KV cache, as labels.',
    by,
    () => {
      const cache = config();
      const state = observed().engine?.health().state;
      if (cache === null || state?.kind !== 'ready') return null;
      const { blockSize, dtype, kvCacheDtype, memoryUtilizationPercent, prefixCaching } = cache;
      return {
        block_size: String(blockSize),
        num_gpu_blocks: String(state.info.numBlocks),
        cache_dtype: kvCacheDtype === 'auto' ? dtype : kvCacheDtype,
        gpu_memory_utilization: String(memoryUtilizationPercent / 100),
        enable_prefix_caching: prefixCaching ? 'True' : 'False',
      };
    },
  );
}
