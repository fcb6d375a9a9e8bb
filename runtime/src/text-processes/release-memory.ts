// Gives back what encodings held. They lie outside of JavaScript's memory, whose collector does not know that they are large.

import { setImmediate as soon } from 'node:timers/promises';

/** Needs Node's --expose-gc. */
export async function releaseMemory(): Promise<void> {
  globalThis.gc?.();
  // Finalizers run after the collection.
  await soon();
}
