// What a pull without a server reports: a line of the log now and then, and progress to the watch for stalls.

import type { Logger } from '../log/logger.js';
import type { UnavailableError } from './checkpoint-source.js';
import { ProgressMeter } from './progress-meter.js';
import type { PullObserver } from './pull-files.js';
import type { AvailabilityObserver } from './retry.js';
import type { StallWatch } from './stall-watch.js';

const logEveryMs = 10_000;

export class PullReport implements PullObserver, AvailabilityObserver {
  private meter: ProgressMeter | null = null;
  private loggedAt = 0;
  private waiting = false;

  constructor(
    private readonly logger: Logger,
    private readonly stall: StallWatch,
    private readonly now: () => number,
  ) {}

  begin(bytesDone: number, bytesTotal: number): void {
    this.meter = new ProgressMeter('pull', bytesTotal, bytesDone, this.now);
    this.logger.info('pull began', { bytesDone, bytesTotal });
  }

  received(bytes: number): void {
    this.meter?.add(bytes);
    const { bytesDone = 0 } = this.meter?.read() ?? {};
    if (bytes > 0) this.stall.progress(`${String(bytesDone)} bytes pulled`);
    if (this.now() - this.loggedAt < logEveryMs) return;
    this.loggedAt = this.now();
    this.logger.info('pulling', { ...this.meter?.read() });
  }

  alive(): void {
    this.stall.progress('a pulled file is being verified');
  }

  elsewhere(): void {
    this.stall.progress('another process of the node pulls the checkpoint');
  }

  unavailable(error: UnavailableError): void {
    this.stall.progress(`S3 does not answer: ${error.message}`);
    if (!this.waiting) this.logger.warn('waiting for S3', { error: error.message });
    this.waiting = true;
  }

  available(): void {
    if (this.waiting) this.logger.info('S3 answers again');
    this.waiting = false;
  }
}
