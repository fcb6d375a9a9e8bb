// The events of one response that runs in the background, by their sequence numbers from 0: written while it runs, and
// read by any number of clients, from any event on, while it runs and after.

/** Events that a reader gets at once. */
const batch = 1_000;

export class EventLog {
  /** Errors are events: whoever asked has an answer already. */
  readonly hasBegun = true;
  readonly #events: string[] = [];
  #ended = false;
  readonly #waiting = new Set<() => void>();

  /** @param take is called with the bytes of each event before it is kept; what it throws ends the response */
  constructor(private readonly take: (bytes: number) => void) {}

  /** Of a response that has ended. */
  static of(events: readonly string[]): EventLog {
    const log = new EventLog(() => undefined);
    log.end(...events);
    return log;
  }

  get events(): readonly string[] {
    return this.#events;
  }

  send(...events: readonly string[]): Promise<void> {
    this.take(events.reduce((sum, { length }) => sum + length, 0));
    this.#add(events);
    return Promise.resolve();
  }

  end(...events: readonly string[]): void {
    this.#ended = true;
    this.#add(events);
  }

  abandon(): void {
    this.end();
  }

  /**
   * Ends with the response.
   * @param sequence number of the last event that the reader has; -1: none
   * @param gone ends it too
   */
  async *after(sequence: number, gone: AbortSignal): AsyncGenerator<readonly string[]> {
    let next = sequence + 1;
    while (!gone.aborted) {
      const events = this.#events.slice(next, next + batch);
      next += events.length;
      if (events.length > 0) yield events;
      else if (this.#ended) return;
      else await this.#change(gone);
    }
  }

  #add(events: readonly string[]): void {
    for (const event of events) this.#events.push(event);
    for (const wake of this.#waiting) wake();
  }

  #change(gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        gone.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      gone.addEventListener('abort', wake);
    });
  }
}
