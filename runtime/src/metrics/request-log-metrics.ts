// Metrics of the request log; there where there is one.

import { Counter, type Registry } from 'prom-client';
import type { RequestLogEvents } from '../observe/s3-request-log.js';

export class RequestLogMetrics implements RequestLogEvents {
  readonly #lines: Counter;
  readonly #lost: Counter;
  readonly #failures: Counter;
  readonly #model: { readonly model_name: string };

  constructor(registry: Registry, modelName: string) {
    const counter = (name: string, help: string): Counter => {
      const made = new Counter({ name, help, labelNames: ['model_name'], registers: [registry] });
      made.inc({ model_name: modelName }, 0);
      return made;
    };
    this.#model = { model_name: modelName };
    this.#lines = counter('llmservice_request_log_lines_total', 'Lines of the request log that S3 took.');
    this.#lost = counter(
      'llmservice_request_log_lines_lost_total',
      'Lines that found no room while S3 took none.',
    );
    this.#failures = counter('llmservice_request_log_write_failures_total', 'Objects that S3 did not take.');
  }

  linesWritten(count: number): void {
    this.#lines.inc(this.#model, count);
  }

  lineLost(): void {
    this.#lost.inc(this.#model);
  }

  writeFailed(): void {
    this.#failures.inc(this.#model);
  }
}
