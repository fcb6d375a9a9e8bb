// What a router reports to Prometheus. Models are those of its table and keys those of its Secret, so that clients make no series.

import type { LineEvents } from '@llmservice/crds/accounting';
import type { Limit } from '@llmservice/crds/keys';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { RequestCharge } from './request-charge.js';

export class RouterMetrics implements LineEvents {
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

  private readonly keyTokensTotal = new Counter({
    name: 'llmservice_router_key_tokens_total',
    help: 'Tokens that requests of a key took, by the model that was asked for.',
    labelNames: ['key', 'model', 'kind'],
    registers: [this.registry],
  });
  private readonly keyRefusedTotal = new Counter({
    name: 'llmservice_router_key_refused_total',
    help: 'Requests refused with 429, by the limit that their key reached.',
    labelNames: ['key', 'limit'],
    registers: [this.registry],
  });
  private readonly estimatedTotal = new Counter({
    name: 'llmservice_router_estimated_total',
    help: 'Requests of keys whose tokens no replica reported, so that they were estimated.',
    labelNames: ['model'],
    registers: [this.registry],
  });

  private readonly accountingLines = new Counter({
    name: 'llmservice_router_accounting_lines_total',
    help: 'Lines of the accounting log that are in their file.',
    registers: [this.registry],
  });
  private readonly accountingLost = new Counter({
    name: 'llmservice_router_accounting_lines_lost_total',
    help: 'Lines that found no room while none was taken.',
    registers: [this.registry],
  });
  private readonly accountingFailures = new Counter({
    name: 'llmservice_router_accounting_write_failures_total',
    help: 'Writes that failed; they are tried again.',
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

  keyRefused(key: string, limit: Limit): void {
    this.keyRefusedTotal.inc({ key, limit });
  }

  /** Of a request that has ended. */
  used(key: string, model: string, { used, isEstimated }: Pick<RequestCharge, 'used' | 'isEstimated'>): void {
    const { promptTokens, completionTokens, textTokens } = used;
    const kinds = { prompt: promptTokens, completion: completionTokens, text: textTokens };
    for (const [kind, tokens] of Object.entries(kinds))
      if (tokens > 0) this.keyTokensTotal.inc({ key, model, kind }, tokens);
    if (isEstimated) this.estimatedTotal.inc({ model });
  }

  linesWritten(count: number): void {
    this.accountingLines.inc(count);
  }

  lineLost(): void {
    this.accountingLost.inc();
  }

  writeFailed(): void {
    this.accountingFailures.inc();
  }

  sent(addedMs: number): void {
    this.addedSeconds.observe(addedMs / 1000);
  }
}
