// What the activator reports to Prometheus.

import type { ActivatorErrorCode } from '@llmservice/crds';
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

export class ActivatorMetrics {
  readonly registry = new Registry();

  private readonly forwardedTotal = new Counter({
    name: 'llmservice_activator_forwarded_total',
    help: 'Requests that were sent on to a pod.',
    registers: [this.registry],
  });
  private readonly refusedTotal = new Counter({
    name: 'llmservice_activator_refused_total',
    help: 'Requests that were refused, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  constructor(held: () => number) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'llmservice_activator_held',
      help: 'Requests that wait for a pod.',
      registers: [this.registry],
      collect() {
        this.set(held());
      },
    });
  }

  forwarded(): void {
    this.forwardedTotal.inc();
  }

  refused(reason: ActivatorErrorCode): void {
    this.refusedTotal.inc({ reason });
  }
}
