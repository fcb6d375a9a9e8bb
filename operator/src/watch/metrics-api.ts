// Whether something answers for custom.metrics.k8s.io, which HorizontalPodAutoscalers ask for metrics of pods. It is no
// resource that could be watched with the operator's rights, and discovery is open to everybody.

import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../kube/client.js';

export interface MetricsApiOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly onChange: () => void;
  readonly intervalMs?: number;
}

const retryMs = 1_000;
const path = '/apis/custom.metrics.k8s.io';

export class MetricsApi {
  private timer: NodeJS.Timeout | null = null;
  private found = false;

  constructor(private readonly options: MetricsApiOptions) {}

  get served(): boolean {
    return this.found;
  }

  /** Settles when it is known: before, an object that it speaks for would seem to be nobody's. */
  async start(signal: AbortSignal): Promise<void> {
    while (!(await this.look())) {
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
    // Ended while it was asked: nobody would stop the timer.
    if (signal.aborted) return;
    this.timer = setInterval(() => void this.look(), this.options.intervalMs ?? 60_000);
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** @returns whether there was an answer; an API server that is away leaves what was known */
  private async look(): Promise<boolean> {
    try {
      const found = (await this.options.client.find(path)) !== null;
      if (found !== this.found) {
        this.found = found;
        this.options.onChange();
      }
      return true;
    } catch {
      return false;
    }
  }
}
