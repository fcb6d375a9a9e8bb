// Requests on their way to the step loop: one whose answer has a form waits until its grammar is compiled, beside the
// steps of others.

import type { GenerateRequest, GrammarText } from '../schedule/generation.js';
import { failureOf } from './failure-of.js';
import type { Grammars } from './grammars.js';
import type { StepLoop } from './step-loop.js';

export class Intake {
  readonly #loop: StepLoop;
  readonly #grammars: Grammars;
  readonly #compiling = new Set<string>();

  constructor(loop: StepLoop, grammars: Grammars) {
    this.#loop = loop;
    this.#grammars = grammars;
  }

  submit(request: GenerateRequest): void {
    if (request.grammar === null) this.#loop.submit(request, null);
    else void this.#compile(request, request.grammar);
  }

  cancel(id: string): void {
    if (!this.#compiling.delete(id)) this.#loop.cancel(id);
  }

  async #compile(request: GenerateRequest, text: GrammarText): Promise<void> {
    const { id } = request;
    this.#compiling.add(id);
    try {
      const grammar = await this.#grammars.compile(text);
      // Not when it was cancelled meanwhile.
      if (this.#compiling.delete(id)) this.#loop.submit(request, grammar);
    } catch (error) {
      if (this.#compiling.delete(id)) this.#loop.refuse(id, failureOf(error));
    }
  }
}
