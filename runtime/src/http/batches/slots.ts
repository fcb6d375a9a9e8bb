// A number of places, taken and given back one at a time; who waits for one gets it in turn.

export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(readonly count: number) {
    this.#free = count;
  }

  /** Call the answer once to give the place back. @throws the signal's reason */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason as Error);
      };
      this.#waiting.push(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
