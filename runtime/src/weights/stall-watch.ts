// Ends a load that makes no progress. Waiting for an S3 endpoint that is known to be down is not a stall:
// it is reported as such, and starting the process again would not help.

import { FailureError } from '@llmservice/crds';

export class StallWatch {
  private lastAt: number;
  private lastSeen = 'nothing has happened yet';

  constructor(
    private readonly timeoutMs: number,
    private readonly now: () => number,
  ) {
    this.lastAt = now();
  }

  /** @param what the progress in words, for the failure's message */
  progress(what: string): void {
    this.lastAt = this.now();
    this.lastSeen = what;
  }

  /** LoadStalled when the last progress is too long ago, else null. */
  check(): FailureError | null {
    const silentMs = this.now() - this.lastAt;
    if (silentMs < this.timeoutMs) return null;
    const seconds = Math.round(silentMs / 1000);
    return new FailureError(
      'LoadStalled',
      `no progress for ${String(seconds)} s; the last was: ${this.lastSeen}`,
      {
        silentSeconds: seconds,
      },
    );
  }
}
