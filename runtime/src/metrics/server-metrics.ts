// The metrics of one replica: vLLM's names and labels, so that its dashboards and the inference pool's endpoint
// picker work unchanged, and our own under llmservice_*. Gauges are read from the engine when scraped.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EngineHealth } from '../engine/engine-state.js';
import type { EngineStats } from '../engine/protocol.js';
import type { FinishedGeneration } from '../log/request-log.js';
import { observeDrafts } from './draft-metrics.js';
import { interTokenBuckets, requestTimeBuckets, timeToFirstTokenBuckets } from './buckets.js';

/** What scrapes look at; null before there is an engine. */
export interface ObservedEngine {
  readonly stats: EngineStats | null;
  health(): EngineHealth;
}

interface LoadBytes {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface ObservedState {
  readonly engine: ObservedEngine | null;
  readonly load: { readonly pulled: LoadBytes | null; readonly loaded: LoadBytes | null } | null;
}

export interface CacheConfig {
  readonly blockSize: number;
  readonly numBlocks: number;
  readonly dtype: string;
  /** `auto`: as dtype. */
  readonly kvCacheDtype: string;
  readonly memoryUtilizationPercent: number;
  readonly prefixCaching: boolean;
}

const labelNames = ['model_name', 'engine'] as const;

export class ServerMetrics {
  readonly registry = new Registry();
  private readonly labels: { readonly model_name: string; readonly engine: string };

  constructor(modelName: string, state: () => ObservedState) {
    this.labels = { model_name: modelName, engine: '0' };
    this.observeEngine(state);
    this.observeTotals(state);
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

  private observeEngine(state: () => ObservedState): void {
    const fromStats = (pick: (stats: EngineStats) => number) => (): number => {
      const stats = state().engine?.stats;
      return stats === null || stats === undefined ? 0 : pick(stats);
    };
    this.gauge(
      'vllm:num_requests_running',
      'Sequences in the running batch.',
      fromStats((stats) => stats.running),
    );
    this.gauge(
      'vllm:num_requests_waiting',
      'Sequences that wait for room.',
      fromStats((stats) => stats.waiting),
    );
    this.gauge(
      'vllm:kv_cache_usage_perc',
      'Share of KV blocks that running sequences hold, 0 to 1.',
      fromStats(({ blocksUsed, blocksTotal }) => (blocksTotal === 0 ? 0 : blocksUsed / blocksTotal)),
    );
    this.gauge(
      'llmservice_kv_blocks_used',
      'KV blocks that running sequences hold.',
      fromStats((stats) => stats.blocksUsed),
    );
    this.gauge(
      'llmservice_kv_blocks_cached',
      'KV blocks kept for later requests until they are needed.',
      fromStats((stats) => stats.blocksCached),
    );
    this.gauge(
      'llmservice_state_snapshots_kept',
      'Snapshots of recurrent state kept for later requests.',
      fromStats((stats) => stats.snapshotsKept),
    );
    this.gauge(
      'llmservice_kv_blocks_total',
      'KV blocks of the cache.',
      fromStats((stats) => stats.blocksTotal),
    );
    this.gauge(
      'llmservice_engine_restarts',
      'Times the engine process was lost and started again.',
      () => state().engine?.health().restarts ?? 0,
    );
    this.observeLoad('pull', () => state().load?.pulled ?? null);
    this.observeLoad('load', () => state().load?.loaded ?? null);
  }

  /** The phases overlap: the engine loads what has been pulled. */
  private observeLoad(phase: 'pull' | 'load', read: () => LoadBytes | null): void {
    this.gauge(
      `llmservice_${phase}_bytes_done`,
      `Bytes of weights ${phase === 'pull' ? 'on disk' : 'in memory'}; 0 when no load is under way.`,
      () => read()?.bytesDone ?? 0,
    );
    this.gauge(
      `llmservice_${phase}_bytes_total`,
      `Bytes of weights to ${phase}; 0 when no load is under way.`,
      () => read()?.bytesTotal ?? 0,
    );
  }

  private observeTotals(state: () => ObservedState): void {
    this.numericalFaults(state);
    this.total(
      'llmservice_repeated_token_runs_total',
      'Times a generation had got one token 256 times in a row.',
      () => state().engine?.stats?.repeatedTokenRunsTotal ?? 0,
    );
    this.total(
      'vllm:num_preemptions_total',
      'Sequences preempted.',
      () => state().engine?.stats?.preemptionsTotal ?? 0,
    );
    this.total(
      'vllm:prefix_cache_queries_total',
      'Prompt tokens looked up in the prefix cache.',
      () => state().engine?.stats?.prefixCacheQueriesTotal ?? 0,
    );
    this.total(
      'vllm:prefix_cache_hits_total',
      'Prompt tokens found in the prefix cache.',
      () => state().engine?.stats?.prefixCacheHitsTotal ?? 0,
    );
    this.total(
      'llmservice_engine_steps_total',
      'Engine steps.',
      () => state().engine?.stats?.stepsTotal ?? 0,
    );
    this.total(
      'llmservice_engine_step_seconds_total',
      'Time in engine steps.',
      () => (state().engine?.stats?.stepMicrosTotal ?? 0) / 1e6,
    );
  }

  private numericalFaults(state: () => ObservedState): void {
    const { labels } = this;
    new Counter({
      name: 'llmservice_numerical_faults_total',
      help: "Requests that ended because the model's numbers meant nothing, by what was seen.",
      labelNames: [...labelNames, 'kind'],
      registers: [this.registry],
      collect() {
        this.reset();
        const counts = state().engine?.health().numericalFaults;
        for (const [kind, count] of Object.entries(counts ?? {})) this.inc({ ...labels, kind }, count);
      },
    });
  }

  /** The engine counts from its own start; a smaller figure than the last means that it was restarted. */
  private total(name: string, help: string, read: () => number): void {
    const { labels } = this;
    let seen = 0;
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        const total = read();
        this.inc(labels, total < seen ? total : total - seen);
        seen = total;
      },
    });
  }

  private counter(name: string, help: string): Counter<(typeof labelNames)[number]> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, buckets: number[]): Histogram<(typeof labelNames)[number]> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  private gauge(name: string, help: string, read: () => number): void {
    const { labels } = this;
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.set(labels, read());
      },
    });
  }
}
