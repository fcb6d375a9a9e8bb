// Hears of everything that moves during a load: feeds the figures of health routes and the watch for stalls.

import type { Lifecycle } from './http/lifecycle.js';
import type { Logger } from './log/logger.js';
import type { UnavailableError } from './weights/checkpoint-source.js';
import { ProgressMeter } from './weights/progress-meter.js';
import type { PullObserver } from './weights/pull-files.js';
import type { AvailabilityObserver } from './weights/retry.js';
import type { StallWatch } from './weights/stall-watch.js';

export class LoadObserver implements PullObserver, AvailabilityObserver {
  private meter: ProgressMeter | null = null;
  private waiting = false;

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly stall: StallWatch,
    private readonly logger: Logger,
    private readonly now: () => number,
  ) {
    lifecycle.reportProgress(() => this.meter?.read() ?? null);
  }

  begin(bytesDone: number, bytesTotal: number): void {
    this.meter = new ProgressMeter('pull', bytesTotal, bytesDone, this.now);
    this.stall.progress(`pull began at ${String(bytesDone)} of ${String(bytesTotal)} bytes`);
    this.logger.info('pull began', { bytesDone, bytesTotal });
  }

  received(bytes: number): void {
    this.meter?.add(bytes);
    if (bytes > 0) this.stall.progress(`${String(this.meter?.read().bytesDone ?? 0)} bytes pulled`);
  }

  alive(): void {
    this.stall.progress('a pulled file is being verified');
  }

  /** A source that is known to be down is no stall: starting again would not bring it back. */
  unavailable(error: UnavailableError): void {
    this.stall.progress(`S3 does not answer: ${error.message}`);
    this.lifecycle.waitForSource({ reason: 'S3Unavailable', message: error.message });
    if (!this.waiting) this.logger.warn('waiting for S3', { error: error.message });
    this.waiting = true;
  }

  available(): void {
    if (!this.waiting) return;
    this.waiting = false;
    this.lifecycle.waitForSource(null);
    this.logger.info('S3 answers again');
  }

  /** The engine reads the weights into memory. */
  loaded(bytesDone: number, bytesTotal: number): void {
    const before = this.meter?.read();
    if (before?.phase !== 'load') this.meter = new ProgressMeter('load', bytesTotal, 0, this.now);
    if (before?.phase === 'load' && before.bytesDone === bytesDone) return;
    this.meter?.set(bytesDone, bytesTotal);
    this.stall.progress(`the engine loaded ${String(bytesDone)} of ${String(bytesTotal)} bytes`);
  }
}
