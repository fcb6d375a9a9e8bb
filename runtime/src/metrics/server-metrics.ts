// The metrics of one replica: vLLM's names and labels, so that its dashboards and the inference pool's endpoint
// picker work unchanged, and our own under llmservice_*. Requests are counted here as they are served; what the engine
// knows is read when scraped.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FinishedGeneration } from '../log/request-log.js';
import { interTokenBuckets, requestTimeBuckets, timeToFirstTokenBuckets } from './buckets.js';
import { observeDrafts } from './draft-metrics.js';
import { observeEngine, type ObservedState } from './engine-metrics.js';
import { KeyMetrics } from './key-metrics.js';
import { labelNames, type Labels } from './scraped-metrics.js';

export interface CacheConfig {
  readonly blockSize: number;
  readonly numBlocks: number;
  readonly dtype: string;
  /** `auto`: as dtype. */
  readonly kvCacheDtype: string;
  readonly memoryUtilizationPercent: number;
  readonly prefixCaching: boolean;
}

export class ServerMetrics {
  readonly registry = new Registry();
  /** Of API keys and the accounting log. */
  readonly keys: KeyMetrics;
  private readonly labels: Labels;

  constructor(modelName: string, state: () => ObservedState) {
    this.labels = { model_name: modelName, engine: '0' };
    this.keys = new KeyMetrics(this.registry, modelName);
    observeEngine(this.registry, this.labels, state);
    observeDrafts(this.registry, this.labels, () => state().engine?.stats?.drafts ?? null);
  }

  /** A generation's first tokens: the prompt went through the model. */
  firstTokens(promptTokens: number, secondsSinceArrival: number): void {
    this.promptTokens.inc(this.labels, promptTokens);
    this.timeToFirstToken.observe(this.labels, secondsSinceArrival);
  }

  /** An embedding: the prompt is all there is. */
  embedded(promptTokens: number): void {
    this.promptTokens.inc(this.labels, promptTokens);
  }

  generated(tokens: number): void {
    this.generationTokens.inc(this.labels, tokens);
  }

  /** Tokens of one step share the time since the step before. */
  laterTokens(tokens: number, seconds: number): void {
    for (let i = 0; i < tokens; i += 1) this.interTokenLatency.observe(this.labels, seconds / tokens);
  }

  finished({ finishReason, totalMs, queueMs, prefillMs, decodeMs, errorCode }: FinishedGeneration): void {
    this.requestSuccess.inc({ ...this.labels, finished_reason: finishReason });
    this.endToEnd.observe(this.labels, totalMs / 1000);
    if (queueMs !== null) this.queueTime.observe(this.labels, queueMs / 1000);
    if (prefillMs !== null) this.prefillTime.observe(this.labels, prefillMs / 1000);
    if (decodeMs !== null) this.decodeTime.observe(this.labels, decodeMs / 1000);
    if (errorCode !== null) this.faults.inc({ model_name: this.labels.model_name, code: errorCode });
  }

  cacheConfig(config: CacheConfig): void {
    const { blockSize, numBlocks, dtype, kvCacheDtype, memoryUtilizationPercent, prefixCaching } = config;
    this.cacheInfo.set(
      {
        engine: this.labels.engine,
        model_name: this.labels.model_name,
        block_size: String(blockSize),
        num_gpu_blocks: String(numBlocks),
        cache_dtype: kvCacheDtype === 'auto' ? dtype : kvCacheDtype,
        gpu_memory_utilization: String(memoryUtilizationPercent / 100),
        enable_prefix_caching: prefixCaching ? 'True' : 'False',
      },
      1,
    );
  }

  private readonly promptTokens = this.counter('vllm:prompt_tokens_total', 'Prompt tokens processed.');
  private readonly generationTokens = this.counter('vllm:generation_tokens_total', 'Tokens generated.');
  private readonly timeToFirstToken = this.histogram(
    'vllm:time_to_first_token_seconds',
    'From arrival to the first token.',
    timeToFirstTokenBuckets,
  );
  private readonly interTokenLatency = this.histogram(
    'vllm:inter_token_latency_seconds',
    'Between two tokens of one generation.',
    interTokenBuckets,
  );
  private readonly endToEnd = this.histogram(
    'vllm:e2e_request_latency_seconds',
    'From arrival to the last token.',
    requestTimeBuckets,
  );
  private readonly queueTime = this.histogram(
    'vllm:request_queue_time_seconds',
    'Waiting for the engine.',
    requestTimeBuckets,
  );
  private readonly prefillTime = this.histogram(
    'vllm:request_prefill_time_seconds',
    'From the first row to the first token.',
    requestTimeBuckets,
  );
  private readonly decodeTime = this.histogram(
    'vllm:request_decode_time_seconds',
    'From the first token to the last.',
    requestTimeBuckets,
  );
  private readonly requestSuccess = new Counter({
    name: 'vllm:request_success_total',
    help: 'Generations that ended, by reason.',
    labelNames: [...labelNames, 'finished_reason'],
    registers: [this.registry],
  });
  private readonly faults = new Counter({
    name: 'llmservice_generation_errors_total',
    help: 'Generations that ended with an error, by its code.',
    labelNames: ['model_name', 'code'],
    registers: [this.registry],
  });
  private readonly cacheInfo = new Gauge({
    name: 'vllm:cache_config_info',
    help: 'Facts of the KV cache, as labels.',
    labelNames: [
      ...labelNames,
      'block_size',
      'num_gpu_blocks',
      'cache_dtype',
      'gpu_memory_utilization',
      'enable_prefix_caching',
    ],
    registers: [this.registry],
  });

  private counter(name: string, help: string): Counter<(typeof labelNames)[number]> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, buckets: number[]): Histogram<(typeof labelNames)[number]> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
