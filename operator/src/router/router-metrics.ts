// What a router reports to Prometheus. Models are those of its table, so that clients make no series.

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export class RouterMetrics {
  readonly registry = new Registry();

  private readonly requestsTotal = new Counter({
    name: 'llmservice_router_requests_total',
    help: 'Requests for a model of the table, by how they ended.',
    labelNames: ['model', 'outcome'],
    registers: [this.registry],
  });
  private readonly refusedTotal = new Counter({
    name: 'llmservice_router_refused_total',
    help: 'Requests that the router refused by itself, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  private readonly addedSeconds = new Histogram({
    name: 'llmservice_router_added_seconds',
    help: 'Time from the last byte of a body to a service that has taken the connection.',
    buckets: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5],
    registers: [this.registry],
  });

  constructor(open: () => number, models: () => number) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'llmservice_router_open',
      help: 'Requests that are not answered to their end.',
      registers: [this.registry],
      collect() {
        this.set(open());
      },
    });
    new Gauge({
      name: 'llmservice_router_models',
      help: 'Models of the table of routes.',
      registers: [this.registry],
      collect() {
        this.set(models());
      },
    });
  }

  ended(model: string, outcome: string): void {
    this.requestsTotal.inc({ model, outcome });
  }

  refused(reason: string): void {
    this.refusedTotal.inc({ reason });
  }

  sent(addedMs: number): void {
    this.addedSeconds.observe(addedMs / 1000);
  }
}
