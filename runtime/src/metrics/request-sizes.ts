// Histograms of how large requests are, and how often they were preempted, under vLLM's names. Their buckets end at the context's length, so that they begin
// with the model that is served.

import type { Histogram, Registry } from 'prom-client';
import type { EndedRequest, FinishedGeneration } from '../observe/ended-request.js';
import { answersByPrompt } from '../observe/request-totals.js';
import { answersBuckets, preemptionsBuckets, tokenBuckets } from './buckets.js';
import type { Labels } from './scraped-metrics.js';
import { vllmHistogram } from './vllm-histogram.js';

const sizes = {
  prompt: ['vllm:request_prompt_tokens', 'Tokens of prompts.'],
  computed: [
    'vllm:request_prefill_kv_computed_tokens',
    'Tokens of prompts that the prefix cache did not have.',
  ],
  generated: ['vllm:request_generation_tokens', 'Tokens of answers.'],
  longest: ['vllm:request_max_num_generation_tokens', 'Tokens of the longest answer to a prompt.'],
  asked: ['vllm:request_params_max_tokens', 'What max_tokens asked for.'],
} as const;

type Size = keyof typeof sizes;

export class RequestSizes {
  readonly #registry: Registry;
  readonly #labels: Labels;
  readonly #answers: Histogram;
  readonly #preemptions: Histogram;
  #histograms: ReadonlyMap<Size, Histogram> = new Map();

  constructor(registry: Registry, labels: Labels) {
    this.#registry = registry;
    this.#labels = labels;
    this.#answers = vllmHistogram(registry, labels, {
      name: 'vllm:request_params_n',
      help: 'Answers asked for to a prompt.',
      buckets: answersBuckets,
    });
    this.#preemptions = vllmHistogram(registry, labels, {
      name: 'vllm:request_num_preemptions',
      help: 'Times that a generation lost its room and waited again.',
      buckets: preemptionsBuckets,
    });
  }

  /** A model with such a context is served from now on. */
  begin(maxModelLen: number): void {
    const buckets = tokenBuckets(maxModelLen);
    const made = (Object.keys(sizes) as Size[]).map((size) => {
      const [name, help] = sizes[size];
      this.#registry.removeSingleMetric(name);
      return [size, vllmHistogram(this.#registry, this.#labels, { name, help, buckets })] as const;
    });
    this.#histograms = new Map(made);
  }

  finished(generation: FinishedGeneration): void {
    const { promptTokens, cachedTokens, preemptions, usage, maxTokens, startedAt } = generation;
    this.#preemptions.observe(this.#labels, preemptions);
    this.#observe('prompt', promptTokens);
    if (startedAt !== null) this.#observe('computed', promptTokens - cachedTokens);
    this.#observe('generated', usage.completionTokens);
    if (maxTokens !== null) this.#observe('asked', maxTokens);
  }

  ended({ generations }: Pick<EndedRequest, 'generations'>): void {
    for (const answers of answersByPrompt(generations)) {
      this.#answers.observe(this.#labels, answers.length);
      this.#observe('longest', Math.max(...answers.map(({ usage }) => usage.completionTokens)));
    }
  }

  #observe(size: Size, tokens: number): void {
    this.#histograms.get(size)?.observe(this.#labels, tokens);
  }
}
