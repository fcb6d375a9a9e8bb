// Answers of the server, under the names and labels that vLLM's server gives them: those of prometheus-fastapi-instrumentator.

import { healthPaths, routes } from '@llmservice/crds';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Probes and scrapes would be most of what is counted; vLLM leaves them out too. */
const uncounted = new Set<string>([...healthPaths, routes.metrics]);

export interface Answer {
  /** Path of its route as express has it; null: there is no such route. */
  readonly route: string | null;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

export class HttpMetrics {
  readonly #answers: Counter;
  readonly #durations: Histogram;

  constructor(registry: Registry) {
    this.#answers = new Counter({
      name: 'http_requests_total',
      help: 'Answers of the server, by route, method and class of the status.',
      labelNames: ['handler', 'method', 'status'],
      registers: [registry],
    });
    this.#durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'From a request to the end of its answer.',
      labelNames: ['handler', 'method'],
      buckets: [0.1, 0.5, 1],
      registers: [registry],
    });
  }

  answered({ route, method, status, seconds }: Answer): void {
    if (route !== null && uncounted.has(route)) return;
    const handler = route ?? 'none';
    this.#answers.inc({ handler, method, status: `${String(Math.floor(status / 100))}xx` });
    this.#durations.observe({ handler, method }, seconds);
  }
}
