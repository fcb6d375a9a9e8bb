// What the operator reports to Prometheus.

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { ApiError } from './kube/client.js';
import { pluralIn } from './kube/resources.js';
import type { Unserved } from './watch/served-kinds.js';

export class Metrics {
  readonly registry = new Registry();

  private readonly reconciles = new Counter({
    name: 'llmservice_operator_reconcile_total',
    help: 'Reconciles by result.',
    labelNames: ['result'],
    registers: [this.registry],
  });
  private readonly duration = new Histogram({
    name: 'llmservice_operator_reconcile_duration_seconds',
    help: 'Duration of one reconcile. Checkpoints are read alongside it.',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [this.registry],
  });
  private readonly requests = new Counter({
    name: 'llmservice_operator_api_requests_total',
    help: 'Requests to the API server by method and resource.',
    labelNames: ['method', 'resource'],
    registers: [this.registry],
  });
  private readonly refusedEvents = new Counter({
    name: 'llmservice_operator_events_refused_total',
    help: 'Events that the API server did not take, by its reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  private readonly leading = new Gauge({
    name: 'llmservice_operator_leader',
    help: '1 while this process holds the lease.',
    registers: [this.registry],
  });

  constructor(queueDepth: () => number) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'llmservice_operator_queue_depth',
      help: 'Services that wait to be reconciled.',
      registers: [this.registry],
      collect() {
        this.set(queueDepth());
      },
    });
  }

  /** Kinds that are missing or may not be read, at each scrape. */
  watchUnserved(unserved: () => readonly Unserved[]): void {
    new Gauge({
      name: 'llmservice_operator_unserved_resource',
      help: 'Resources that the cluster does not have (why="absent") or the operator may not read (why="forbidden").',
      labelNames: ['resource', 'namespace', 'why'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { resource, namespace, why } of unserved()) {
          this.set({ resource, namespace: namespace ?? '', why }, 1);
        }
      },
    });
  }

  watchReadiness(isReady: () => boolean): void {
    new Gauge({
      name: 'llmservice_operator_ready',
      help: '0 while this process leads without seeing the cluster, as /readyz has it.',
      registers: [this.registry],
      collect() {
        this.set(isReady() ? 1 : 0);
      },
    });
  }

  countRequest(method: string, path: string): void {
    this.requests.inc({ method, resource: pluralIn(path) });
  }

  countRefusedEvent(error: Error): void {
    this.refusedEvents.inc({ reason: error instanceof ApiError ? error.reason : 'Unreachable' });
  }

  setLeading(leading: boolean): void {
    this.leading.set(leading ? 1 : 0);
  }

  /** Runs one reconcile and counts it. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    const stop = this.duration.startTimer();
    try {
      const result = await work();
      this.reconciles.inc({ result: 'success' });
      return result;
    } catch (error) {
      this.reconciles.inc({ result: 'error' });
      throw error;
    } finally {
      stop();
    }
  }
}
