// Engine output of one generation as text: whole characters, stop strings found, reasoning told apart by token id,
// tokens counted. Pure and incremental; one instance per generation.

import type { EngineOutput, FinishReason, TokenLogprobs } from '../engine/protocol.js';
import type { Detokenizer } from '../tokens/detokenizer.js';
import { StopMatcher } from '../tokens/stop-matcher.js';
import type { ThinkIds } from './reasoning.js';

export interface TextStreamOptions {
  readonly newDetokenizer: () => Detokenizer;
  readonly stopStrings: readonly string[];
  readonly includeStopString: boolean;
  /** Ids that the client itself asked to stop at: only these are told as the reason. */
  readonly stopTokenIds: readonly number[];
  /** Tokens before which no stop string counts; the engine sees to stop ids. */
  readonly minTokens: number;
  /** Alternatives to tell per token; null: no log probabilities. */
  readonly logprobs: number | null;
  /** Whether ids are told beside the text. */
  readonly tellsIds: boolean;
  /** Null where the tokenizer has none or the route does not tell reasoning apart. */
  readonly think: ThinkIds | null;
  /** Whether the prompt opened the reasoning already. */
  readonly inReasoning: boolean;
}

export interface GeneratedToken {
  readonly id: number;
  /** Null of the first token of an echoed prompt. */
  readonly logprobs: TokenLogprobs | null;
}

/** What one engine output adds. */
export interface TextDelta {
  readonly content: string;
  readonly reasoning: string;
  /** Tokens with their log probabilities; empty unless asked for. */
  readonly logprobs: readonly GeneratedToken[];
  /** Ids of what was generated, the one that ended it included; null: not asked for. */
  readonly tokenIds: readonly number[] | null;
  /** On the first delta: the prompt's ids. Null: not asked for. */
  readonly promptTokenIds: readonly number[] | null;
  readonly finish: FinishReason | null;
  /** The stop string or the client's own stop id that ended the text; null: neither. */
  readonly stopReason: string | number | null;
}

export class TextStream {
  private readonly options: TextStreamOptions;
  private section: Section;
  private tokens = 0;
  private reasoning = 0;

  constructor(options: TextStreamOptions) {
    this.options = options;
    this.section = this.open(options.inReasoning ? 'reasoning' : 'content', false);
  }

  /** Tokens generated so far, the stop token included, what followed a stop string not. */
  get completionTokens(): number {
    return this.tokens;
  }

  get reasoningTokens(): number {
    return this.reasoning;
  }

  /** After a delta with `finish` nothing more may be pushed. */
  push(output: EngineOutput): TextDelta {
    const text = { content: '', reasoning: '' };
    const logprobs: GeneratedToken[] = [];
    const ids: number[] = [];
    const told = { logprobs, tokenIds: this.options.tellsIds ? ids : null, promptTokenIds: null };
    for (const [i, id] of output.tokens.entries()) {
      this.tokens += 1;
      ids.push(id);
      if (this.section.kind === 'reasoning') this.reasoning += 1;
      const logprob = output.logprobs?.[i];
      const { logprobs: alternatives } = this.options;
      if (logprob !== undefined && alternatives !== null)
        logprobs.push({ id, logprobs: { ...logprob, top: logprob.top.slice(0, alternatives) } });
      const stop = this.pushToken(id, text);
      if (stop !== null) return { ...text, ...told, finish: 'stop', stopReason: stop };
    }
    if (output.finish === null) return { ...text, ...told, finish: null, stopReason: null };

    if (output.stopToken !== null) {
      this.tokens += 1;
      ids.push(output.stopToken);
    }
    const kind = this.section.kind;
    const end = this.section.close();
    text[kind] += end.text;
    const ownStop = output.stopToken !== null && this.options.stopTokenIds.includes(output.stopToken);
    return {
      ...text,
      ...told,
      finish: end.stop === null ? output.finish : 'stop',
      stopReason: end.stop ?? (ownStop ? output.stopToken : null),
    };
  }

  /** The stop string that the token completed, or null. */
  private pushToken(id: number, text: Record<Section['kind'], string>): string | null {
    const { think } = this.options;
    const { kind } = this.section;
    const next =
      think === null
        ? null
        : kind === 'reasoning' && id === think.end
          ? 'content'
          : id === think.begin
            ? 'reasoning'
            : null;
    if (next === null) {
      const added = this.section.push(id, this.tokens > this.options.minTokens);
      text[kind] += added.text;
      return added.stop;
    }
    const end = this.section.close();
    text[kind] += end.text;
    this.section = this.open(next, true);
    return end.stop;
  }

  /** Templates write a line break beside the tokens around reasoning, which is no part of either text. */
  private open(kind: Section['kind'], afterThinkToken: boolean): Section {
    const { newDetokenizer, stopStrings, includeStopString } = this.options;
    const matcher = new StopMatcher(stopStrings, { include: includeStopString });
    return new Section(kind, newDetokenizer(), matcher, afterThinkToken || kind === 'reasoning');
  }
}

/** A stretch of text of one kind, with its own decoder and stop matcher. */
class Section {
  constructor(
    readonly kind: 'content' | 'reasoning',
    private readonly detokenizer: Detokenizer,
    private readonly matcher: StopMatcher,
    private skipLineBreaks: boolean,
  ) {}

  push(id: number, mayStop: boolean): { readonly text: string; readonly stop: string | null } {
    const text = this.trimmed(this.detokenizer.push([id]));
    return mayStop ? this.matcher.push(text) : { text, stop: null };
  }

  close(): { readonly text: string; readonly stop: string | null } {
    const last = this.matcher.push(this.trimmed(this.detokenizer.flush()));
    return last.stop === null ? { text: last.text + this.matcher.flush(), stop: null } : last;
  }

  private trimmed(text: string): string {
    if (!this.skipLineBreaks) return text;
    const trimmed = text.replace(/^\n+/, '');
    if (trimmed !== '') this.skipLineBreaks = false;
    return trimmed;
  }
}
