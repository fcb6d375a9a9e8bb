// How long the pods of each service have held devices, as a counter: from when this process leads, at each scrape. Prometheus
// adds up what several leaders counted one after the other. The budget's account, in the status, is kept apart from it.

import type { HeldDevices } from './plan/scaling/budget.js';

interface Total {
  readonly seconds: number;
  readonly atMs: number;
}

export class DeviceSeconds {
  private readonly totals = new Map<string, Total>();

  /** @param startedMs before which another leader counted */
  constructor(private readonly startedMs: number) {}

  /** What a service has taken by now. A pod that came and went between two calls is not in it. */
  count(key: string, held: readonly HeldDevices[], nowMs: number): number {
    const { seconds, atMs } = this.totals.get(key) ?? { seconds: 0, atMs: this.startedMs };
    const since = held.reduce(
      (sum, each) => sum + each.devices * Math.max(0, nowMs - Math.max(atMs, Date.parse(each.since))),
      0,
    );
    const total = { seconds: seconds + since / 1000, atMs: Math.max(atMs, nowMs) };
    this.totals.set(key, total);
    return total.seconds;
  }

  /** Services that are gone are forgotten. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.totals.keys()) if (!keys.has(key)) this.totals.delete(key);
  }
}
