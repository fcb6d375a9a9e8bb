// A histogram under one of vLLM's names. Like vLLM's it is there with its first scrape: a rate needs a beginning, and what
// is observed before one is never seen.

import { Histogram, type Registry } from 'prom-client';
import { labelNames, type Labels } from './scraped-metrics.js';

export interface HistogramFacts {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
}

export function vllmHistogram(
  registry: Registry,
  labels: Labels,
  { name, help, buckets }: HistogramFacts,
): Histogram {
  const made = new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] });
  made.zero(labels);
  return made;
}
