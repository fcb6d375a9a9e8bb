// Metrics of batches; there where batches run.

import { Counter, type Registry } from 'prom-client';
import type { BatchEvents } from '../http/batches/batch-run.js';
import type { BatchStatus } from '../http/batches/batch.js';

const endings: readonly BatchStatus[] = ['completed', 'failed', 'expired', 'cancelled'];

export class BatchMetrics implements BatchEvents {
  readonly #rows: Counter;
  readonly #batches: Counter;

  constructor(
    registry: Registry,
    private readonly modelName: string,
  ) {
    this.#rows = new Counter({
      name: 'llmservice_batch_requests_total',
      help: 'Requests of batches that were answered, by outcome: completed or failed.',
      labelNames: ['model_name', 'outcome'],
      registers: [registry],
    });
    this.#batches = new Counter({
      name: 'llmservice_batches_total',
      help: 'Batches that ended here, by status.',
      labelNames: ['model_name', 'status'],
      registers: [registry],
    });
    for (const outcome of ['completed', 'failed']) this.#rows.inc({ model_name: modelName, outcome }, 0);
    for (const status of endings) this.#batches.inc({ model_name: modelName, status }, 0);
  }

  rowEnded(isOk: boolean): void {
    this.#rows.inc({ model_name: this.modelName, outcome: isOk ? 'completed' : 'failed' });
  }

  batchEnded(status: BatchStatus): void {
    this.#batches.inc({ model_name: this.modelName, status });
  }
}
