// Metrics of a log of lines; there where there is one.

import { Counter, type Registry } from 'prom-client';
import type { LineEvents } from '@llmservice/crds/accounting';

export class LineMetrics implements LineEvents {
  readonly #lines: Counter;
  readonly #lost: Counter;
  readonly #failures: Counter;
  readonly #model: { readonly model_name: string };

  constructor(registry: Registry, modelName: string, log: 'accounting' | 'request_log') {
    const counter = (name: string, help: string): Counter => {
      const made = new Counter({
        name: `llmservice_${log}_${name}_total`,
        help,
        labelNames: ['model_name'],
        registers: [registry],
      });
      made.inc({ model_name: modelName }, 0);
      return made;
    };
    this.#model = { model_name: modelName };
    this.#lines = counter('lines', 'Lines that are in their file or bucket.');
    this.#lost = counter('lines_lost', 'Lines that found no room while none was taken.');
    this.#failures = counter('write_failures', 'Writes that failed; they are tried again.');
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
