// An answer as the parts that protocols with typed events report: stretches of reasoning, of text and of the arguments
// of one call, in the order in which they were written. Read piece by piece or at once, they are the same.

import type { GeneratedToken, TextDelta } from '../../request/text/text-stream.js';

export interface AnswerPart {
  /** Of the part in its answer, from 0. */
  readonly index: number;
  readonly kind: 'reasoning' | 'text' | 'call';
  /** So far; of a call, its arguments. */
  text: string;
  /** Of text: the tokens that wrote it so far, where their log probabilities were asked for. */
  readonly tokens: GeneratedToken[];
  /** Null: it is no call. */
  readonly call: { readonly id: string; readonly name: string } | null;
}

export type PartEvent =
  | { readonly kind: 'opened' | 'closed'; readonly part: AnswerPart }
  | {
      readonly kind: 'grown';
      readonly part: AnswerPart;
      readonly by: string;
      readonly tokens: readonly GeneratedToken[];
    };

export class AnswerParts {
  readonly #parts: AnswerPart[] = [];
  #events: PartEvent[] = [];
  #open: AnswerPart | null = null;
  /** Of text that has not come yet. */
  readonly #tokens: GeneratedToken[] = [];

  /** Those of a whole answer, all of them closed. */
  static of(deltas: readonly TextDelta[]): readonly AnswerPart[] {
    const parts = new AnswerParts();
    for (const delta of deltas) parts.take(delta);
    return parts.all;
  }

  get all(): readonly AnswerPart[] {
    return this.#parts;
  }

  /** What the delta does to the parts; with the last delta the last part is closed. */
  take({ reasoning, content, toolCalls, finish, logprobs }: TextDelta): readonly PartEvent[] {
    this.#events = [];
    this.#tokens.push(...logprobs.filter(({ isText }) => isText === true));
    // What still belongs to the call that is open comes before everything else of the delta.
    const later = toolCalls.findIndex(({ start }) => start !== null);
    const split = later === -1 ? toolCalls.length : later;
    for (const call of toolCalls.slice(0, split)) this.#grow('call', call.arguments);
    this.#grow('reasoning', reasoning);
    this.#grow('text', content);
    for (const { start, arguments: fragment } of toolCalls.slice(split)) {
      if (start !== null) this.#begin('call', start);
      this.#grow('call', fragment);
    }
    if (finish !== null) this.#close();
    return this.#events;
  }

  #grow(kind: AnswerPart['kind'], by: string): void {
    if (by === '') return;
    const part = this.#open?.kind === kind ? this.#open : this.#begin(kind, null);
    part.text += by;
    const tokens = kind === 'text' ? this.#tokens.splice(0) : [];
    part.tokens.push(...tokens);
    this.#events.push({ kind: 'grown', part, by, tokens });
  }

  #begin(kind: AnswerPart['kind'], call: AnswerPart['call']): AnswerPart {
    this.#close();
    const part = { index: this.#parts.length, kind, text: '', tokens: [], call };
    this.#parts.push(part);
    this.#events.push({ kind: 'opened', part });
    this.#open = part;
    return part;
  }

  #close(): void {
    if (this.#open !== null) this.#events.push({ kind: 'closed', part: this.#open });
    this.#open = null;
  }
}
