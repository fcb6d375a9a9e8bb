// Engine output of one generation as text: whole characters, stop strings found, reasoning and calls of tools separated,
// tokens counted. Pure and incremental; one instance per generation.

import type { EngineOutput, FinishReason, TokenLogprobs } from '../../engine/protocol.js';
import { RepetitionDetector } from '../../tokens/repetition-detector.js';
import { StopMatcher } from '../../tokens/stop-matcher.js';
import type { ToolCallDelta } from '../../tools/tool.js';
import { feed } from '../../tools/piece.js';
import { Section, type SectionText } from './section.js';
import type { TextStreamOptions } from './text-stream-options.js';
import { ThoughtCalls, type Behind } from './thought-calls.js';

/** What a token around reasoning stands behind where prose quotes it. */
const beforeQuote = /[ \t`'"“‘«([{<]/;

export interface GeneratedToken {
  readonly id: number;
  /** Null of the first token of an echoed prompt. */
  readonly logprobs: TokenLogprobs | null;
  /** Of a prompt's token: whether the echoed text has nothing of it. */
  readonly isLeftOut?: boolean;
  /** Whether it writes the answer's text: it is neither reasoning, nor a token around it, nor of a call. */
  readonly isText?: boolean;
}

/** What ended the tokens: the model or a stop string, a limit, or that they repeat themselves. */
type TokensEnd = FinishReason | 'repetition';

/** As vLLM says so. */
const repetitionDetected = 'repetition_detected';

/** What one engine output adds. */
export interface TextDelta {
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCallDelta[];
  /** Tokens with their log probabilities, the stop token only where its id or text is reported; empty unless asked for. */
  readonly logprobs: readonly GeneratedToken[];
  /** Ids of what was generated, the one that ended it included; null: not asked for. */
  readonly tokenIds: readonly number[] | null;
  /** On the first delta: the prompt's ids. Null: not asked for. */
  readonly promptTokenIds: readonly number[] | null;
  readonly finish: TokensEnd | 'tool_calls' | null;
  /** The stop string, pattern or id of the client that ended the text, or that it repeats itself; null: none of them. */
  readonly stopReason: string | number | null;
}

/** Nothing new. */
export const silentDelta: TextDelta = {
  content: '',
  reasoning: '',
  toolCalls: [],
  logprobs: [],
  tokenIds: null,
  promptTokenIds: null,
  finish: null,
  stopReason: null,
};

export class TextStream {
  private readonly options: TextStreamOptions;
  private readonly matcher: StopMatcher;
  private readonly thought: ThoughtCalls | null;
  private readonly repetition: RepetitionDetector | null;
  private section: Section;
  /** Until the reasoning has ended or anything else has begun: after that, a token that stands around it is quoted. */
  private mayReason = true;
  /** Whether there is more than reasoning, and space. */
  private answered = false;
  /** Tokens that begin reasoning, quoted in the content, behind which none that ends it has come. */
  private quotedBegins = 0;
  private tokens = 0;
  private reasoning = 0;

  constructor(options: TextStreamOptions) {
    this.options = options;
    const { stopStrings, includeStopString: include, stopPatterns: patterns } = options;
    this.matcher = new StopMatcher(stopStrings, { include, patterns });
    const { tools, inReasoning, callsInReasoning } = options;
    this.thought = tools !== null && callsInReasoning ? new ThoughtCalls(tools) : null;
    this.repetition = options.repetition === null ? null : new RepetitionDetector(options.repetition);
    this.section = this.open(inReasoning ? 'reasoning' : 'content', inReasoning);
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
    const { tools, minTokens } = this.options;
    const gathered: Gathered = { content: '', reasoning: '', logprobs: [], ids: [] };
    for (const [i, id] of output.tokens.entries()) {
      this.tokens += 1;
      gathered.ids.push(id);
      if (this.section.kind === 'reasoning') this.reasoning += 1;
      this.score(id, output.logprobs?.[i], gathered);
      const stop = this.pushToken(id, gathered, this.tokens > minTokens);
      if (stop !== null || tools?.isFull === true) return this.last(gathered, 'stop', stop);
      const repeats = this.repetition?.push(id) === true && this.tokens >= minTokens;
      // Where the answer ends with this token in any case, that is why.
      const endsAnyway = output.finish === 'length' && i === output.tokens.length - 1;
      if (repeats && !endsAnyway) return this.close(gathered, 'repetition', repetitionDetected);
    }
    if (output.finish === null) return { ...this.deltaOf(gathered), finish: null, stopReason: null };

    if (output.stopToken !== null) this.endWith(output.stopToken, output.stopLogprobs, gathered);
    const ownStop = output.stopToken !== null && this.options.stopTokenIds.includes(output.stopToken);
    return this.close(gathered, output.finish, ownStop ? output.stopToken : null);
  }

  /** The end of the section may complete a stop string yet. */
  private close(gathered: Gathered, finish: TokensEnd, stopReason: string | number | null): TextDelta {
    const end = this.section.close();
    this.append(end.text, gathered);
    return end.stop === null
      ? this.last(gathered, finish, stopReason)
      : this.last(gathered, 'stop', end.stop);
  }

  private endWith(id: number, logprobs: TokenLogprobs | null, gathered: Gathered): void {
    const { reportsIds, includeStopString } = this.options;
    this.tokens += 1;
    gathered.ids.push(id);
    // Who gets the ids finds as many log probabilities; in OpenAI's answers are those of the text alone.
    if (reportsIds || includeStopString) this.score(id, logprobs, gathered);
    if (!includeStopString) return;
    // The token has ended the text: no stop string can any more.
    this.append(this.matcher.flush(), gathered);
    this.pushToken(id, gathered, false);
  }

  private score(id: number, scores: TokenLogprobs | null | undefined, { logprobs }: Gathered): void {
    const { logprobs: alternatives } = this.options;
    if (scores == null || alternatives === null) return;
    const top =
      alternatives === 'named'
        ? [{ token: id, logprob: scores.logprob }, ...scores.top.filter(({ token }) => token !== id)]
        : scores.top.slice(0, alternatives);
    logprobs.push({ id, logprobs: { ...scores, top }, isText: this.writesText(id) });
  }

  /** Of a token that is not pushed yet. */
  private writesText(id: number): boolean {
    const { tools } = this.options;
    const isMarker = (tools?.markerOf(id) ?? null) !== null || this.begunBy(id) !== null;
    return this.section.kind === 'content' && tools?.isOpen !== true && !isMarker;
  }

  private last(gathered: Gathered, finish: TokensEnd, stopReason: string | number | null): TextDelta {
    const { tools, eosIds } = this.options;
    const ownStop = typeof stopReason === 'number' && !eosIds.includes(stopReason);
    const cut = finish === 'length' || typeof stopReason === 'string' || ownStop;
    if (this.thought?.mayContinue === true) this.takeBehind(this.thought.endBehind(cut), gathered);
    else if (!cut && !this.answered) this.thought?.end();
    tools?.end(cut);
    const calls = finish === 'stop' && tools?.asksForCalls === true;
    return { ...this.deltaOf(gathered), finish: calls ? 'tool_calls' : finish, stopReason };
  }

  /** Text of the section that is open. */
  private append(added: string, text: Texts): void {
    const { tools } = this.options;
    const { kind } = this.section;
    if (added === '') return;
    if (kind === 'reasoning') this.thought?.think({ text: added });
    else if (this.thought?.mayContinue === true) {
      this.takeBehind(this.thought.continueWith({ text: added }), text);
      return;
    } else this.answered ||= added.trim() !== '';
    if (kind === 'content' && tools !== null) tools.text(added);
    else text[kind] += added;
  }

  /** Null: nothing is sure yet. */
  private takeBehind(behind: Behind | null, text: Texts): void {
    if (behind === null) return;
    this.answered ||= behind.kind === 'call';
    for (const piece of behind.pieces) {
      const said = 'text' in piece ? piece.text : '';
      if (behind.kind === 'thought') text.reasoning += said;
      else if (this.options.tools !== null) feed(this.options.tools, piece);
      this.answered ||= behind.kind === 'answer' && ('marker' in piece || said.trim() !== '');
    }
  }

  private deltaOf({ content, reasoning, logprobs, ids }: Gathered): Omit<TextDelta, 'finish' | 'stopReason'> {
    const { tools, reportsIds } = this.options;
    const tokenIds = reportsIds ? ids : null;
    return { content, reasoning, toolCalls: [], ...tools?.take(), logprobs, tokenIds, promptTokenIds: null };
  }

  /** The stop string that the token completed, or null. */
  private pushToken(id: number, text: Texts, mayStop: boolean): string | null {
    const marker = this.options.tools?.markerOf(id) ?? null;
    if (marker !== null) return this.pushMarker(marker, id, text);
    const begun = this.begunBy(id);
    if (begun !== null) {
      this.mayReason = begun === 'reasoning';
      return this.next(begun, true, text);
    }
    if (this.isStray(id)) return null;
    const added = this.pushText(id, mayStop);
    this.mayReason &&= this.section.kind === 'reasoning' || !this.section.hasText;
    this.append(added.text, text);
    return added.stop;
  }

  private pushMarker(marker: 'begin' | 'end', id: number, text: Texts): string | null {
    const { tools, newDetokenizer } = this.options;
    const { kind } = this.section;
    const stop = this.next(kind, false, text);
    if (stop !== null) return stop;
    if (kind === 'reasoning') {
      this.thought?.think({ marker });
      text.reasoning += newDetokenizer().push([id]);
    } else {
      this.mayReason = false;
      if (this.thought?.mayContinue === true) this.takeBehind(this.thought.continueWith({ marker }), text);
      else {
        this.answered = true;
        tools?.marker(marker);
      }
    }
    return null;
  }

  /** What a token around reasoning begins; null: it is text, like any other. */
  private begunBy(id: number): Section['kind'] | null {
    const { think } = this.options;
    if (id === think?.end && this.section.kind === 'reasoning') return 'content';
    return id === think?.begin && this.mayReason ? 'reasoning' : null;
  }

  /**
   * Whether a token ends reasoning where none is, and nothing quotes it: of a model that continued a thought that a
   * budget had ended, or that was to have none.
   */
  private isStray(id: number): boolean {
    const { think, tools } = this.options;
    if (this.section.kind === 'reasoning' || tools?.isOpen === true) return false;
    if (id === think?.begin) this.quotedBegins += 1;
    if (id !== think?.end) return false;
    if (this.quotedBegins === 0) return !beforeQuote.test(this.section.last);
    this.quotedBegins -= 1;
    return false;
  }

  private pushText(id: number, mayStop: boolean): SectionText {
    const { think, textOf, tools } = this.options;
    const isQuoted = id === think?.begin || id === think?.end || tools?.isSpelled(id) === true;
    return isQuoted ? this.section.quote(textOf(id), mayStop) : this.section.push(id, mayStop);
  }

  /** Ends one section and opens another; gives the stop string that the end completed, or null. */
  private next(kind: Section['kind'], afterThinkToken: boolean, text: Texts): string | null {
    const end = this.section.close();
    this.append(end.text, text);
    if (kind !== this.section.kind) this.thought?.endThought();
    // Line breaks show whether what comes continues a call of the thought.
    this.section = this.open(kind, afterThinkToken && this.thought?.mayContinue !== true);
    return end.stop;
  }

  /** Templates write a line break beside the tokens around reasoning, which is no part of either text. */
  private open(kind: Section['kind'], afterThinkToken: boolean): Section {
    return new Section(kind, this.options.newDetokenizer(), this.matcher, afterThinkToken);
  }
}

type Texts = Record<Section['kind'], string>;

/** Of one engine output. */
interface Gathered extends Texts {
  readonly logprobs: GeneratedToken[];
  readonly ids: number[];
}
