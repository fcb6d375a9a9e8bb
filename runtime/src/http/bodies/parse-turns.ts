// What takes long on the event loop, such as to parse megabytes: one after the other, with as much time after each of them
// as it took, what follows on it included. So however many come at once, others are answered between any two.

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';

export class ParseTurns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T): Promise<T> {
    let startedAt = 0;
    const result = this.#last.then(() => {
      startedAt = performance.now();
      return work();
    });
    this.#last = result
      .catch(() => undefined)
      .then(() => immediate())
      .then(() => sleep(performance.now() - startedAt));
    return result;
  }
}
