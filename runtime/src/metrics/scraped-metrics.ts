// Metrics that are read when they are scraped. What an engine counts begins anew with its process, and a counter must
// never fall: a total smaller than the last one means that the engine was started again.

import { Counter, Gauge, type Registry } from 'prom-client';

/** Labels that every series has. */
export const labelNames = ['model_name', 'engine'] as const;
export type Labels = Readonly<Record<(typeof labelNames)[number], string>>;

/** A value, and the labels that set it apart from others of its metric. */
export interface Sample {
  readonly value: number;
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
    this.gauges(name, help, [], () => [{ value: read(), by: {} }]);
  }

  /** @param by names of the labels that the values have in addition to `labelNames` */
  gauges(name: string, help: string, by: readonly string[], read: () => readonly Sample[]): void {
    const labels = this.#labels;
    new Gauge({
      name,
      help,
      labelNames: [...labelNames, ...by],
      registers: [this.#registry],
      collect() {
        for (const { value, by } of read()) this.set({ ...labels, ...by }, value);
      },
    });
  }

  /** Always 1: the labels carry the values. @param read null: there is nothing to report */
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
        const extraLabels = read();
        if (extraLabels !== null) this.set({ ...labels, ...extraLabels }, 1);
      },
    });
  }

  total(name: string, help: string, read: () => number): void {
    this.totals(name, help, [], () => [{ value: read(), by: {} }]);
  }

  /** @param by names of the labels that the totals have in addition to `labelNames` */
  totals(name: string, help: string, by: readonly string[], read: () => readonly Sample[]): void {
    const labels = this.#labels;
    const seen = new Map<string, number>();
    new Counter({
      name,
      help,
      labelNames: [...labelNames, ...by],
      registers: [this.#registry],
      collect() {
        for (const { value, by } of read()) {
          const key = JSON.stringify(by);
          const before = seen.get(key) ?? 0;
          this.inc({ ...labels, ...by }, value < before ? value : value - before);
          seen.set(key, value);
        }
      },
    });
  }
}
