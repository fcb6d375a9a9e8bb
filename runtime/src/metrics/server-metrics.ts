// The metrics of one replica: vLLM's names and labels, so that its dashboards and the inference pool's endpoint
// picker work unchanged, and our own under llmservice_*. Requests are counted here as they are served; what the engine
// knows is read when scraped.

import { podMetrics } from '@llmservice/crds';
import { Counter, Registry, type Histogram } from 'prom-client';
import type { EndedRequest, FinishedGeneration } from '../observe/ended-request.js';
import { stepTokensBuckets } from './buckets.js';
import { observeCache, type CacheConfig } from './cache-metrics.js';
import { observeDrafts } from './draft-metrics.js';
import { observeEngine, type ObservedState } from './engine-metrics.js';
import { observeEngineState } from './engine-state-metrics.js';
import { HttpMetrics } from './http-metrics.js';
import { KeyMetrics } from './key-metrics.js';
import { RequestSizes } from './request-sizes.js';
import { RequestTimes } from './request-times.js';
import { labelNames, type Labels } from './scraped-metrics.js';
import { observeTransfers } from './transfer-metrics.js';
import { vllmHistogram } from './vllm-histogram.js';

/** The last is there for dashboards: nothing is transferred here. */
const promptSources = ['local_compute', 'local_cache_hit', 'external_kv_transfer'];
const finishedReasons = ['stop', 'length', 'abort', 'error', 'repetition'];
/** By vLLM's names of its limits; tokens that wait are not limited here. */
const rejectionReasons = ['max_num_queued_reqs', 'max_num_queued_tokens'];

export class ServerMetrics {
  readonly registry = new Registry();
  /** Of API keys and the accounting log. */
  readonly keys: KeyMetrics;
  readonly http = new HttpMetrics(this.registry);
  private readonly labels: Labels;
  private readonly times: RequestTimes;
  private readonly sizes: RequestSizes;
  private readonly stepTokens: Histogram;
  private cache: CacheConfig | null = null;

  constructor(modelName: string, state: () => ObservedState) {
    this.labels = { model_name: modelName, engine: '0' };
    this.times = new RequestTimes(this.registry, this.labels);
    this.sizes = new RequestSizes(this.registry, this.labels);
    this.stepTokens = vllmHistogram(this.registry, this.labels, {
      name: 'vllm:iteration_tokens_total',
      help: 'Tokens of a step, of prompts and answers.',
      buckets: stepTokensBuckets,
    });
    // vLLM's series are there from the start: a rate needs a beginning, and who asks whether a pod is idle an answer.
    for (const tokens of [this.promptTokens, this.generationTokens, this.cachedTokens])
      tokens.inc(this.labels, 0);
    for (const source of promptSources) this.promptTokensBySource.inc({ ...this.labels, source }, 0);
    for (const finished_reason of finishedReasons)
      this.requestSuccess.inc({ ...this.labels, finished_reason }, 0);
    for (const reason of rejectionReasons) this.rejections.inc({ model_name: modelName, reason }, 0);
    for (const how of ['busy', 'dropped']) this.refusedConnections.inc({ model_name: modelName, how }, 0);
    this.keys = new KeyMetrics(this.registry, modelName);
    observeEngine(this.registry, this.labels, state);
    observeEngineState(this.registry, this.labels, state);
    observeCache(this.registry, this.labels, () => this.cache, state);
    observeDrafts(this.registry, this.labels, () => state().engine?.stats?.drafts ?? null);
    observeTransfers(this.registry, this.labels, () => state().engine?.stats?.transfers ?? null);
  }

  /** A generation's first tokens: the prompt went through the model, but for what the prefix cache had. */
  firstTokens(promptTokens: number, cachedTokens: number, secondsSinceArrival: number): void {
    this.embedded(promptTokens, cachedTokens);
    this.times.firstTokens(secondsSinceArrival);
  }

  /** The prompt is all there is: of an embedding, or of an answer without tokens. */
  embedded(promptTokens: number, cachedTokens: number): void {
    this.promptTokens.inc(this.labels, promptTokens);
    this.cachedTokens.inc(this.labels, cachedTokens);
    const bySource = { local_compute: promptTokens - cachedTokens, local_cache_hit: cachedTokens };
    for (const [source, tokens] of Object.entries(bySource))
      this.promptTokensBySource.inc({ ...this.labels, source }, tokens);
  }

  generated(tokens: number): void {
    this.generationTokens.inc(this.labels, tokens);
  }

  /** The engine ran a step of so many tokens, of prompts and answers. */
  stepped(tokens: number): void {
    this.stepTokens.observe(this.labels, tokens);
  }

  /** Tokens of one step, so long after those of the step before. */
  laterTokens(seconds: number): void {
    this.times.laterTokens(seconds);
  }

  finished(generation: FinishedGeneration): void {
    const { finishReason, errorCode } = generation;
    this.requestSuccess.inc({ ...this.labels, finished_reason: finishReason });
    this.times.finished(generation);
    this.sizes.finished(generation);
    if (errorCode !== null) this.faults.inc({ model_name: this.labels.model_name, code: errorCode });
  }

  /** @param how busy: it was answered with 503; dropped: it was closed */
  connectionRefused(how: 'busy' | 'dropped'): void {
    this.refusedConnections.inc({ model_name: this.labels.model_name, how });
  }

  /** All generations of a request have finished, or it was refused. */
  requestEnded(request: EndedRequest): void {
    this.sizes.ended(request);
    if (request.errorCode === 'queue_full')
      this.rejections.inc({ model_name: this.labels.model_name, reason: 'max_num_queued_reqs' });
  }

  /** A model is served from now on. */
  serving(cache: CacheConfig, maxModelLen: number): void {
    this.sizes.begin(maxModelLen);
    this.cache = cache;
  }

  private readonly promptTokens = this.counter(podMetrics.promptTokens, 'Prompt tokens processed.');
  private readonly generationTokens = this.counter(podMetrics.generationTokens, 'Tokens generated.');
  private readonly cachedTokens = this.counter(
    'vllm:prompt_tokens_cached_total',
    'Prompt tokens that the prefix cache had.',
  );
  private readonly promptTokensBySource = new Counter({
    name: 'vllm:prompt_tokens_by_source_total',
    help: 'Prompt tokens by where what they became in the cache is from.',
    labelNames: [...labelNames, 'source'],
    registers: [this.registry],
  });
  private readonly requestSuccess = new Counter({
    name: podMetrics.requestSuccess,
    help: 'Generations that ended, by reason.',
    labelNames: [...labelNames, 'finished_reason'],
    registers: [this.registry],
  });
  private readonly rejections = new Counter({
    name: 'vllm:admission_rejections_total',
    help: 'Requests refused because of a limit of the queue, by the limit.',
    labelNames: ['model_name', 'reason'],
    registers: [this.registry],
  });
  private readonly faults = new Counter({
    name: 'llmservice_generation_errors_total',
    help: 'Generations that ended with an error, by its code.',
    labelNames: ['model_name', 'code'],
    registers: [this.registry],
  });

  private readonly refusedConnections = new Counter({
    name: 'llmservice_connections_refused_total',
    help: 'Connections refused because all were in use, by how: answered with 503, or dropped.',
    labelNames: ['model_name', 'how'],
    registers: [this.registry],
  });

  private counter(name: string, help: string): Counter<(typeof labelNames)[number]> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
