// What the node's cache of weights did for this replica: counted and logged.

import { Counter, type Registry } from 'prom-client';
import type { Logger } from '../log/logger.js';
import type { CacheObserver } from '../weights/cache/weights-cache.js';

export class WeightsCacheMetrics implements CacheObserver {
  private readonly hits: Counter.Internal;
  private readonly misses: Counter.Internal;
  private readonly evictions: Counter.Internal;

  constructor(
    registry: Registry,
    modelName: string,
    private readonly logger: Logger,
  ) {
    const counter = (name: string, help: string): Counter.Internal => {
      const metric = { name: `llmservice_weights_cache_${name}_total`, help, labelNames: ['model_name'] };
      const series = new Counter({ ...metric, registers: [registry] }).labels(modelName);
      series.inc(0);
      return series;
    };
    this.hits = counter('hits', "Checkpoints that were in the node's cache.");
    this.misses = counter('misses', "Checkpoints that this replica pulled into the node's cache.");
    this.evictions = counter(
      'evictions',
      'Checkpoints that this replica removed from the cache to make room.',
    );
  }

  hit(name: string): void {
    this.hits.inc();
    this.logger.info('the checkpoint is in the cache', { name });
  }

  missed(name: string): void {
    this.misses.inc();
    this.logger.info('the checkpoint is pulled into the cache', { name });
  }

  evicted(name: string): void {
    this.evictions.inc();
    this.logger.info('removed from the cache to make room', { name });
  }

  damaged(name: string, files: readonly string[]): void {
    this.logger.warn('files of the cache are damaged and fetched again', { name, files });
  }
}
