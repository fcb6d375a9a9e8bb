// Long computations on the event loop, such as to parse megabytes: one after the other and each in slices, with a pause
// after each slice as long as the slice itself. So however many come at once, others are answered between any two slices.
// They stay on this thread: to take over what another thread has parsed takes longer than to parse it here.

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';

/** A computation that may be interrupted at each `yield`; between two of them it takes some milliseconds at most. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** With a third of a processor, as on a busy machine, it takes 30 ms. */
const sliceMs = 10;

export class LoopTurns {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param signal ends the computation between two slices
   * @throws what the computation throws; the signal's reason
   */
  run<T>(work: () => Steps<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.#last.then(() => inSlices(work, signal));
    this.#last = turn.then(({ startedAt }) => pause(startedAt));
    return turn.then(({ outcome }) => outcome());
  }
}

/** The same without a turn, for what is known to be short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The last slice has its pause too, which begins once whoever waits for the outcome has continued with it. */
interface Ended<T> {
  readonly startedAt: number;
  readonly outcome: () => T;
}

async function inSlices<T>(work: () => Steps<T>, signal: AbortSignal | undefined): Promise<Ended<T>> {
  let startedAt = performance.now();
  try {
    const steps = work();
    for (;;) {
      signal?.throwIfAborted();
      const step = steps.next();
      if (step.done === true) return { startedAt, outcome: () => step.value };
      if (performance.now() - startedAt < sliceMs) continue;
      await pause(startedAt);
      startedAt = performance.now();
    }
  } catch (error) {
    return {
      startedAt,
      outcome: () => {
        throw error;
      },
    };
  }
}

async function pause(startedAt: number): Promise<void> {
  await immediate();
  await sleep(performance.now() - startedAt);
}
