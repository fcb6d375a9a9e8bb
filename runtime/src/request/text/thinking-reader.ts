// Separates text, reasoning between two tokens, and calls of tools between markers.

import { feed } from '../../tools/piece.js';
import type { StopMatcher } from '../../tokens/stop-matcher.js';
import type { AnswerReader, ReadAnswer } from './answer-reader.js';
import { Section, type SectionText } from './section.js';
import type { TextStreamOptions } from './text-stream-options.js';
import { ThoughtCalls, type Behind } from './thought-calls.js';

/** What a token around reasoning stands behind where prose quotes it. */
const beforeQuote = /[ \t`'"“‘«([{<]/;

type Kind = Section['kind'];

export class ThinkingReader implements AnswerReader {
  private readonly thought: ThoughtCalls | null;
  private section: Section;
  /** Until the reasoning has ended or anything else has begun: after that, a token that stands around it is quoted. */
  private mayReason = true;
  /** Whether there is more than reasoning, and space. */
  private answered = false;
  /** Tokens that begin reasoning, quoted in the content, behind which none that ends it has come. */
  private quotedBegins = 0;
  /** What came since the last time; content only where there are no tools. */
  private texts: Record<Kind, string> = { content: '', reasoning: '' };

  constructor(
    private readonly options: TextStreamOptions,
    private readonly matcher: StopMatcher,
  ) {
    const { tools, inReasoning, callsInReasoning } = options;
    this.thought = tools !== null && callsInReasoning ? new ThoughtCalls(tools) : null;
    this.section = this.open(inReasoning ? 'reasoning' : 'content', inReasoning);
  }

  get isReasoning(): boolean {
    return this.section.kind === 'reasoning';
  }

  get isFull(): boolean {
    return this.options.tools?.isFull === true;
  }

  get asksForCalls(): boolean {
    return this.options.tools?.asksForCalls === true;
  }

  writesText(id: number): boolean {
    const { tools } = this.options;
    const isMarker = (tools?.markerOf(id) ?? null) !== null || this.begunBy(id) !== null;
    return this.section.kind === 'content' && tools?.isOpen !== true && !isMarker;
  }

  push(id: number, mayStop: boolean): string | null {
    const marker = this.options.tools?.markerOf(id) ?? null;
    if (marker !== null) return this.pushMarker(marker, id);
    const begun = this.begunBy(id);
    if (begun !== null) {
      this.mayReason = begun === 'reasoning';
      return this.next(begun, true);
    }
    if (this.isStray(id)) return null;
    const added = this.pushText(id, mayStop);
    this.mayReason &&= this.section.kind === 'reasoning' || !this.section.hasText;
    this.append(added.text);
    return added.stop;
  }

  flush(): void {
    this.append(this.matcher.flush());
  }

  close(): string | null {
    const end = this.section.close();
    this.append(end.text);
    return end.stop;
  }

  end(cut: boolean): void {
    if (this.thought?.mayContinue === true) this.takeBehind(this.thought.endBehind(cut));
    else if (!cut && !this.answered) this.thought?.end();
    this.options.tools?.end(cut);
  }

  take(): ReadAnswer {
    const { texts } = this;
    this.texts = { content: '', reasoning: '' };
    return { ...texts, toolCalls: [], ...this.options.tools?.take() };
  }

  /** Text of the section that is open. */
  private append(added: string): void {
    const { tools } = this.options;
    const { kind } = this.section;
    if (added === '') return;
    if (kind === 'reasoning') this.thought?.think({ text: added });
    else if (this.thought?.mayContinue === true) {
      this.takeBehind(this.thought.continueWith({ text: added }));
      return;
    } else this.answered ||= added.trim() !== '';
    if (kind === 'content' && tools !== null) tools.text(added);
    else this.texts[kind] += added;
  }

  /** Null: nothing is sure yet. */
  private takeBehind(behind: Behind | null): void {
    if (behind === null) return;
    this.answered ||= behind.kind === 'call';
    for (const piece of behind.pieces) {
      const said = 'text' in piece ? piece.text : '';
      if (behind.kind === 'thought') this.texts.reasoning += said;
      else if (this.options.tools !== null) feed(this.options.tools, piece);
      this.answered ||= behind.kind === 'answer' && ('marker' in piece || said.trim() !== '');
    }
  }

  private pushMarker(marker: 'begin' | 'end', id: number): string | null {
    const { tools, newDetokenizer } = this.options;
    const { kind } = this.section;
    const stop = this.next(kind, false);
    if (stop !== null) return stop;
    if (kind === 'reasoning') {
      this.thought?.think({ marker });
      this.texts.reasoning += newDetokenizer().push([id]);
    } else {
      this.mayReason = false;
      if (this.thought?.mayContinue === true) this.takeBehind(this.thought.continueWith({ marker }));
      else {
        this.answered = true;
        tools?.marker(marker);
      }
    }
    return null;
  }

  /** What a token around reasoning begins; null: it is text, like any other. */
  private begunBy(id: number): Kind | null {
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
  private next(kind: Kind, afterThinkToken: boolean): string | null {
    const stop = this.close();
    if (kind !== this.section.kind) this.thought?.endThought();
    // Line breaks show whether what comes continues a call of the thought.
    const label = kind === 'reasoning' && afterThinkToken ? (this.options.think?.label ?? '') : '';
    this.section = this.open(kind, afterThinkToken && this.thought?.mayContinue !== true, label);
    return stop;
  }

  /** Templates write a line break beside the tokens around reasoning, which is no part of either text. */
  private open(kind: Kind, afterThinkToken: boolean, label = ''): Section {
    return new Section(kind, this.options.newDetokenizer(), this.matcher, afterThinkToken, label);
  }
}
