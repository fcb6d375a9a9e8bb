// Histograms of how long the parts of a generation take, under vLLM's names.

import type { Histogram, Registry } from 'prom-client';
import type { FinishedGeneration } from '../observe/ended-request.js';
import { lengthOf, phasesOf } from '../observe/request-totals.js';
import { interTokenBuckets, requestTimeBuckets, timeToFirstTokenBuckets } from './buckets.js';
import type { Labels } from './scraped-metrics.js';
import { vllmHistogram } from './vllm-histogram.js';

export class RequestTimes {
  readonly #labels: Labels;
  readonly #firstToken: Histogram;
  readonly #betweenTokens: Histogram;
  readonly #perToken: Histogram;
  readonly #whole: Histogram;
  readonly #queue: Histogram;
  readonly #prefill: Histogram;
  readonly #decode: Histogram;
  readonly #inference: Histogram;

  constructor(registry: Registry, labels: Labels) {
    this.#labels = labels;
    const histogram = (name: string, help: string, buckets = requestTimeBuckets): Histogram =>
      vllmHistogram(registry, labels, { name, help, buckets });
    this.#firstToken = histogram(
      'vllm:time_to_first_token_seconds',
      'From arrival to the first token.',
      timeToFirstTokenBuckets,
    );
    this.#betweenTokens = histogram(
      'vllm:inter_token_latency_seconds',
      'Between two steps that gave a generation tokens.',
      interTokenBuckets,
    );
    this.#perToken = histogram(
      'vllm:request_time_per_output_token_seconds',
      'Mean time between the tokens of a generation.',
      interTokenBuckets,
    );
    this.#whole = histogram('vllm:e2e_request_latency_seconds', 'From arrival to the last token.');
    this.#queue = histogram('vllm:request_queue_time_seconds', 'Waiting for the engine.');
    this.#prefill = histogram('vllm:request_prefill_time_seconds', 'From the first row to the first token.');
    this.#decode = histogram('vllm:request_decode_time_seconds', 'From the first token to the last.');
    this.#inference = histogram(
      'vllm:request_inference_time_seconds',
      'From the first row to the last token.',
    );
  }

  firstTokens(secondsSinceArrival: number): void {
    this.#firstToken.observe(this.#labels, secondsSinceArrival);
  }

  /** As vLLM counts: once for each step that gave tokens, however many. */
  laterTokens(seconds: number): void {
    this.#betweenTokens.observe(this.#labels, seconds);
  }

  finished(generation: FinishedGeneration): void {
    const { queue, prefill, decode } = phasesOf([generation]);
    const [queueMs, prefillMs, decodeMs] = [lengthOf(queue), lengthOf(prefill), lengthOf(decode)];
    const observe = (histogram: Histogram, milliseconds: number | null): void => {
      if (milliseconds !== null) histogram.observe(this.#labels, milliseconds / 1000);
    };
    observe(this.#whole, generation.endedAt - generation.arrivedAt);
    observe(this.#queue, queueMs);
    observe(this.#prefill, prefillMs);
    observe(this.#decode, decodeMs);
    observe(this.#inference, prefillMs === null ? null : prefillMs + (decodeMs ?? 0));
    const later = generation.usage.completionTokens - 1;
    if (decodeMs !== null && later > 0) observe(this.#perToken, decodeMs / later);
  }
}
