// Requests on their way to the step loop: one for structured output waits until its grammar is compiled, beside the
// steps of others. That is a part of the time that it may wait. A long prompt waits until another engine has computed it.

import type { CompiledGrammar } from '@llmservice/native';
import type { GenerateRequest, GrammarText } from '../schedule/generation.js';
import type { RemotePrefill } from '../disaggregation/remote-prefill.js';
import { failureOf } from './failure-of.js';
import type { Grammars } from './grammars.js';
import { queueTimeout } from './queue-timeout.js';
import type { StepLoop } from './step-loop.js';

export class Intake {
  readonly #loop: Pick<StepLoop, 'submit' | 'refuse' | 'cancel'>;
  readonly #grammars: Grammars;
  readonly #now: () => number;
  readonly #remote: Pick<RemotePrefill, 'wants' | 'bring'> | null;
  /** By id; aborted once nobody waits for the grammar, or the prompt, any more. */
  readonly #preparing = new Map<string, AbortController>();

  /**
   * @param now the loop's clock
   * @param remote has long prompts computed elsewhere; null: all are computed here
   */
  constructor(
    loop: Pick<StepLoop, 'submit' | 'refuse' | 'cancel'>,
    grammars: Grammars,
    now: () => number,
    remote: Pick<RemotePrefill, 'wants' | 'bring'> | null = null,
  ) {
    this.#loop = loop;
    this.#grammars = grammars;
    this.#now = now;
    this.#remote = remote;
  }

  submit(request: GenerateRequest): void {
    if (request.grammar === null) this.#submit(request, null);
    else void this.#compile(request, request.grammar);
  }

  cancel(id: string): void {
    if (!this.#leave(id)) this.#loop.cancel(id);
  }

  #submit(request: GenerateRequest, grammar: CompiledGrammar | null, since?: number): void {
    if (this.#remote?.wants(request) === true) void this.#bring(this.#remote, request, grammar);
    else this.#loop.submit(request, grammar, since);
  }

  /** However it went: the time that the request may wait here begins with it, so that no other pod lets it fail. */
  async #bring(
    remote: Pick<RemotePrefill, 'bring'>,
    request: GenerateRequest,
    grammar: CompiledGrammar | null,
  ): Promise<void> {
    const wanted = new AbortController();
    this.#preparing.set(request.id, wanted);
    const cached = await remote.bring(request, wanted.signal);
    if (this.#leave(request.id)) this.#loop.submit(request, grammar, undefined, cached ?? undefined);
  }

  async #compile(request: GenerateRequest, text: GrammarText): Promise<void> {
    const { id, maxQueueMs, fairnessKey } = request;
    const since = this.#now();
    const wanted = new AbortController();
    this.#preparing.set(id, wanted);
    const giveUp = (): void => {
      if (this.#leave(id)) this.#loop.refuse(id, queueTimeout(Math.round(this.#now() - since)));
    };
    const timer = maxQueueMs === null ? undefined : setTimeout(giveUp, maxQueueMs);
    try {
      const grammar = await this.#grammars.compile(text, fairnessKey, wanted.signal);
      if (this.#leave(id)) this.#submit(request, grammar, since);
    } catch (error) {
      if (this.#leave(id)) this.#loop.refuse(id, failureOf(error));
    } finally {
      clearTimeout(timer);
    }
  }

  /** False: it is not here, or was cancelled meanwhile. */
  #leave(id: string): boolean {
    this.#preparing.get(id)?.abort();
    return this.#preparing.delete(id);
  }
}
