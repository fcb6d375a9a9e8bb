// Work of which the first failure counts: nothing new is begun after it, and it is thrown once nothing is under way.

import type { LimitFunction } from 'p-limit';

export class FirstFailure {
  private failed: { readonly error: unknown } | null = null;

  /** Runs when the limit allows; resolves when it is done, has failed or will not run. */
  async run(limit: LimitFunction, work: () => Promise<void>): Promise<void> {
    await limit(async () => {
      if (this.failed !== null) return;
      await work().catch((error: unknown) => {
        this.failed ??= { error };
      });
    });
  }

  /** Throws the first failure, if there was one. */
  check(): void {
    if (this.failed !== null) throw this.failed.error;
  }
}
