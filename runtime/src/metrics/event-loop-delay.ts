// How late the server's event loop runs what is due: the time that anything which computes on it holds up every stream.
// A histogram over the process's life, so that any number of scrapers read the same.

import { Histogram, type Registry } from 'prom-client';

/** Each sample wakes a thread beside those that compute: five times as many cost a quarter of what the server takes a token. */
export const eventLoopSampleMs = 50;
const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

export class EventLoopDelay {
  private readonly timer: NodeJS.Timeout;

  /** @param now monotonic, in milliseconds */
  constructor(registry: Registry, modelName: string, now: () => number) {
    const delay = new Histogram({
      name: 'llmservice_event_loop_delay_seconds',
      help: "How late the server's timers of 50 ms are.",
      labelNames: ['model_name'],
      buckets,
      registers: [registry],
    });
    const labels = { model_name: modelName };
    let last = now();
    this.timer = setInterval(() => {
      const at = now();
      delay.observe(labels, Math.max(0, at - last - eventLoopSampleMs) / 1000);
      last = at;
    }, eventLoopSampleMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
