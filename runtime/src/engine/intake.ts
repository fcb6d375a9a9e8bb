// Requests on their way to the step loop: one for structured output waits until its grammar is compiled, beside the
// steps of others. That is a part of the time that it may wait.

import type { GenerateRequest, GrammarText } from '../schedule/generation.js';
import { failureOf } from './failure-of.js';
import type { Grammars } from './grammars.js';
import { queueTimeout } from './queue-timeout.js';
import type { StepLoop } from './step-loop.js';

export class Intake {
  readonly #loop: Pick<StepLoop, 'submit' | 'refuse' | 'cancel'>;
  readonly #grammars: Grammars;
  readonly #now: () => number;
  /** By id; aborted once nobody waits for the grammar any more. */
  readonly #compiling = new Map<string, AbortController>();

  /** @param now the loop's clock */
  constructor(loop: Pick<StepLoop, 'submit' | 'refuse' | 'cancel'>, grammars: Grammars, now: () => number) {
    this.#loop = loop;
    this.#grammars = grammars;
    this.#now = now;
  }

  submit(request: GenerateRequest): void {
    if (request.grammar === null) this.#loop.submit(request, null);
    else void this.#compile(request, request.grammar);
  }

  cancel(id: string): void {
    if (!this.#leave(id)) this.#loop.cancel(id);
  }

  async #compile(request: GenerateRequest, text: GrammarText): Promise<void> {
    const { id, maxQueueMs, fairnessKey } = request;
    const since = this.#now();
    const wanted = new AbortController();
    this.#compiling.set(id, wanted);
    const giveUp = (): void => {
      if (this.#leave(id)) this.#loop.refuse(id, queueTimeout(Math.round(this.#now() - since)));
    };
    const timer = maxQueueMs === null ? undefined : setTimeout(giveUp, maxQueueMs);
    try {
      const grammar = await this.#grammars.compile(text, fairnessKey, wanted.signal);
      if (this.#leave(id)) this.#loop.submit(request, grammar, since);
    } catch (error) {
      if (this.#leave(id)) this.#loop.refuse(id, failureOf(error));
    } finally {
      clearTimeout(timer);
    }
  }

  /** False: it is not here, or was cancelled meanwhile. */
  #leave(id: string): boolean {
    this.#compiling.get(id)?.abort();
    return this.#compiling.delete(id);
  }
}
