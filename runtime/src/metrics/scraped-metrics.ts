// Metrics that are read when they are scraped. What an engine counts begins anew with its process, and a counter must
// never fall: a total smaller than the last one means that the engine was started again.

import { Counter, Gauge, type Registry } from 'prom-client';

/** Labels that every series has. */
export const labelNames = ['model_name', 'engine'] as const;
export type Labels = Readonly<Record<(typeof labelNames)[number], string>>;

/** A total, and the labels that set it apart from others of its metric. */
export interface Total {
  readonly total: number;
  readonly by: Readonly<Record<string, string>>;
}

export class ScrapedMetrics {
  readonly #registry: Registry;
  readonly #labels: Labels;

  constructor(registry: Registry, labels: Labels) {
    this.#registry = registry;
    this.#labels = labels;
  }

  gauge(name: string, help: string, read: () => number): void {
    const labels = this.#labels;
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.set(labels, read());
      },
    });
  }

  /** Always 1: what is told are the labels. @param read null: there is nothing to tell */
  info(
    name: string,
    help: string,
    by: readonly string[],
    read: () => Readonly<Record<string, string>> | null,
  ): void {
    const labels = this.#labels;
    new Gauge({
      name,
      help,
      labelNames: [...labelNames, ...by],
      registers: [this.#registry],
      collect() {
        this.reset();
        const told = read();
        if (told !== null) this.set({ ...labels, ...told }, 1);
      },
    });
  }

  total(name: string, help: string, read: () => number): void {
    this.totals(name, help, [], () => [{ total: read(), by: {} }]);
  }

  /** @param by names of the labels that the totals have beside `labelNames` */
  totals(name: string, help: string, by: readonly string[], read: () => readonly Total[]): void {
    const labels = this.#labels;
    const seen = new Map<string, number>();
    new Counter({
      name,
      help,
      labelNames: [...labelNames, ...by],
      registers: [this.#registry],
      collect() {
        for (const { total, by } of read()) {
          const key = JSON.stringify(by);
          const before = seen.get(key) ?? 0;
          this.inc({ ...labels, ...by }, total < before ? total : total - before);
          seen.set(key, total);
        }
      },
    });
  }
}
