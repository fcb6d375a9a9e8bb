// The adapters of an engine over all the processes that it is: what one has loaded, the next loads before it is ready.

import type { Failure, FailureError } from '@llmservice/crds';
import type { EngineAdapter, ServerMessage } from './protocol.js';
import { toError } from './flights.js';

interface Waiting {
  readonly adapter: EngineAdapter;
  readonly resolve: () => void;
  readonly reject: (error: FailureError) => void;
}

const notReady: Failure = {
  reason: 'EngineFault',
  message: 'the engine is being started again: load the adapter once it serves',
};

export class EngineAdapters {
  readonly #send: (message: ServerMessage) => void;
  readonly #kept = new Map<number, EngineAdapter>();
  readonly #waiting = new Map<number, Waiting>();
  /** Of the process that runs or starts: what it was given. */
  #given: readonly EngineAdapter[] = [];
  #ready = false;

  /** @param send to the engine process, if there is one */
  constructor(send: (message: ServerMessage) => void) {
    this.#send = send;
  }

  get kept(): readonly EngineAdapter[] {
    return [...this.#kept.values()];
  }

  /** What a process that is started is to load. */
  give(): readonly EngineAdapter[] {
    this.#given = this.kept;
    return this.#given;
  }

  /** The process has loaded what it was given, of which some may be unwanted by now. */
  ready(): void {
    this.#ready = true;
    for (const { number } of this.#given) {
      if (!this.#kept.has(number)) this.#send({ type: 'unloadAdapter', number });
    }
  }

  /** For the process that is to be started. */
  keep(adapter: EngineAdapter): void {
    this.#kept.set(adapter.number, adapter);
  }

  /** Into the process that runs. @throws FailureError why it was not loaded */
  load(adapter: EngineAdapter): Promise<void> {
    if (!this.#ready) return Promise.reject(toError(notReady));
    return new Promise((resolve, reject) => {
      this.#waiting.set(adapter.number, { adapter, resolve, reject });
      this.#send({ type: 'loadAdapter', adapter });
    });
  }

  unload(number: number): void {
    this.#kept.delete(number);
    if (this.#ready) this.#send({ type: 'unloadAdapter', number });
  }

  ended(number: number, failure: Failure | null): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (waiting === undefined) return;
    if (failure !== null) {
      waiting.reject(toError(failure));
      return;
    }
    this.keep(waiting.adapter);
    waiting.resolve();
  }

  /** The process is gone, and what it was loading with it. */
  lost(cause: Failure): void {
    this.#ready = false;
    for (const { reject } of this.#waiting.values()) reject(toError(cause));
    this.#waiting.clear();
  }
}
