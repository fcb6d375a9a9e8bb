// Requests from their submission to their end, over all the processes that an engine has been.

import { FailureError, type Failure } from '@llmservice/crds';
import { OutputQueue } from './output-queue.js';
import { queueTimeout } from './queue-timeout.js';
import type { EngineOutput, GenerateRequest, SequenceUpdate, ServerMessage } from './protocol.js';

interface Flight {
  readonly request: GenerateRequest;
  readonly queue: OutputQueue;
  readonly openedAt: number;
  /** Whether an engine process has it. */
  sent: boolean;
  /** Ends its time to wait while no engine process has it. */
  expiry?: NodeJS.Timeout;
}

export class Flights {
  readonly #flights = new Map<string, Flight>();
  readonly #send: (message: ServerMessage) => void;

  /** @param send to the engine process, if there is one */
  constructor(send: (message: ServerMessage) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#flights.size;
  }

  /**
   * Outputs of a request until one has `finish`. Leaving the loop, or the signal, cancels it.
   * @param atOnce false: it waits for `sendAll`, no longer than its `maxQueueMs`
   * @throws FailureError that `fail` or an update gives it
   */
  async *open(request: GenerateRequest, signal: AbortSignal, atOnce: boolean): AsyncGenerator<EngineOutput> {
    const queue = new OutputQueue();
    const flight: Flight = { request, queue, openedAt: performance.now(), sent: false };
    const close = (): void => queue.close();
    this.#flights.set(request.id, flight);
    signal.addEventListener('abort', close);
    if (signal.aborted) close();
    else if (atOnce) this.#submit(flight);
    else if (request.maxQueueMs !== null)
      flight.expiry = setTimeout(() => queue.fail(toError(queueTimeout(waited(flight)))), request.maxQueueMs);
    let finished = false;
    try {
      for (let output = await queue.next(); output !== null; output = await queue.next()) {
        finished = output.finish !== null;
        yield output;
        if (finished) return;
      }
    } finally {
      signal.removeEventListener('abort', close);
      clearTimeout(flight.expiry);
      this.#flights.delete(request.id);
      if (!finished && flight.sent) this.#send({ type: 'cancel', id: request.id });
    }
  }

  /** Gives those that wait to the engine process. */
  sendAll(): void {
    for (const flight of this.#flights.values()) this.#submit(flight);
  }

  update({ id, failure, ...output }: SequenceUpdate): void {
    const queue = this.#flights.get(id)?.queue;
    if (failure === null) queue?.push(output);
    else queue?.fail(toError(failure));
  }

  /** @param which `sent`: those that a process had, which is gone */
  fail(cause: Failure, which: 'all' | 'sent'): void {
    for (const { queue, sent } of this.#flights.values())
      if (sent || which === 'all') queue.fail(toError(cause));
  }

  #submit(flight: Flight): void {
    if (flight.sent) return;
    flight.sent = true;
    clearTimeout(flight.expiry);
    const { request } = flight;
    const maxQueueMs = request.maxQueueMs === null ? null : Math.max(0, request.maxQueueMs - waited(flight));
    this.#send({ type: 'submit', request: { ...request, maxQueueMs } });
  }
}

/** In whole milliseconds. */
function waited({ openedAt }: Flight): number {
  return Math.round(performance.now() - openedAt);
}

export function toError({ reason, message, detail }: Failure): FailureError {
  return new FailureError(reason, message, detail);
}
