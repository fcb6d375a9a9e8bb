// Separates text and calls of tools in one answer, while it comes. Marker tokens arrive by themselves; markers that
// the vocabulary has no token for are found in the text. Pure; one instance per answer.
// What turns out to be no call is text, marker and all: nothing that was generated is lost.

import type { Marker, ToolDialect } from './dialect.js';
import { AnswerText } from './answer-text.js';
import { CallDeltas } from './call-deltas.js';
import { DoubtedEnd, HeldCalls } from './doubted-end.js';
import { firstMarker, partialMarker } from './partial-marker.js';
import { feed, type Piece } from './piece.js';
import type { CallBody, Tool, ToolCallDelta, ToolUse } from './tool.js';

export interface ToolReaderOptions {
  readonly dialect: ToolDialect;
  readonly use: ToolUse;
  readonly newCallId: () => string;
  /** Whether markers that are control tokens stay out of the text, where they turn out to begin no call. */
  readonly skipSpecialTokens: boolean;
}

interface Block {
  body: CallBody;
  /** What began it, as text. */
  readonly begin: string;
  /** What came in it, as long as that may be text. */
  raw: string;
  /** Whether no marker began it, but what it begins with itself. */
  readonly bare: boolean;
  /** Null: no marker came that may be the block's end or quoted in it. */
  doubt: DoubtedEnd | null;
}

export class ToolReader {
  private readonly options: ToolReaderOptions;
  /** Texts that begin a block. */
  private readonly begins: readonly string[];
  /** How calls begin behind a block that has ended, without space. */
  private readonly behindEnd: readonly string[];
  /** Null: outside of calls. */
  private block: Block | null = null;
  /** The end of the text that may be the beginning of a marker. */
  private partial = '';
  private cut = false;
  private readonly answer = new AnswerText();
  private readonly calls: CallDeltas;
  private readonly sink: HeldCalls;

  constructor(options: ToolReaderOptions) {
    this.options = options;
    this.calls = new CallDeltas(options.newCallId);
    this.sink = new HeldCalls(this.calls);
    const { begin, unmarked, opens } = options.dialect;
    // Under a grammar no model leaves its marker out.
    const mayLeaveOut = unmarked !== null && !options.use.tools.some(({ strict }) => strict);
    const bare = mayLeaveOut ? [unmarked] : [];
    this.begins = [...(begin.id === null ? [begin.text] : []), ...bare];
    const names = options.use.tools.map(({ name }) => name);
    const behind = opens.flatMap((open) => (open === '' ? names : [open]));
    this.behindEnd = [...behind.map((open) => begin.text + open), ...bare];
  }

  /** Whether a block of calls has begun, and not ended. */
  get isOpen(): boolean {
    return this.block !== null;
  }

  /** Whether the answer may have no more calls, and so ends. */
  get isFull(): boolean {
    return !this.options.use.parallel && this.calls.count > 0 && this.block === null;
  }

  /** Whether the block that has begun needs nothing more than its end. */
  get isWhole(): boolean {
    return this.block?.doubt === null && this.block.body.isWhole;
  }

  /** Whether the answer asks for calls, the last of them whole as far as the model wrote it. */
  get asksForCalls(): boolean {
    return this.calls.count > 0 && !this.cut;
  }

  /** One that reads as many calls as there are, which it drops. */
  another(): ToolReader {
    return new ToolReader({ ...this.options, use: { ...this.options.use, parallel: true } });
  }

  /** Which marker a token is; null: text. */
  markerOf(id: number): 'begin' | 'end' | null {
    const { begin, end } = this.options.dialect;
    return id === begin.id ? 'begin' : end !== null && id === end.id ? 'end' : null;
  }

  /** Whether a token is read as its letters, though answers may leave it out. */
  isSpelled(id: number): boolean {
    return this.options.dialect.within.some((marker) => marker.id === id);
  }

  marker(kind: 'begin' | 'end'): void {
    if (this.isFull) return;
    this.flushPartial();
    const { begin, end } = this.options.dialect;
    if (kind === 'begin') this.beginMarker(begin);
    else if (end !== null) this.text(this.endMarker(end, { marker: 'end' }));
  }

  text(text: string): void {
    let rest = text;
    while (rest !== '' && !this.isFull)
      rest = this.block === null ? this.readOutside(rest) : this.readInside(rest);
  }

  /** The answer ends. `cut`: by a limit or a stop string, not by the model. */
  end(cut: boolean): void {
    // Of a call that is required no text is content: the limit came before the function's name.
    if (cut && this.options.use.choice !== 'auto' && this.block?.body.state !== 'call') {
      this.partial = '';
      this.block = null;
    }
    do {
      this.flushPartial();
      if (this.block !== null && this.block.doubt !== null) {
        this.settle(this.block, this.block.doubt, cut);
        continue;
      }
      this.cut ||= cut && this.block?.body.state === 'call' && !this.isWhole;
      this.text(this.closeBlock(cut));
    } while (this.block !== null || this.partial !== '');
    if (this.calls.count === 0) this.answer.endWithSpace();
  }

  /** What came since the last time. */
  take(): { readonly content: string; readonly toolCalls: readonly ToolCallDelta[] } {
    return { content: this.answer.take(), toolCalls: this.calls.take() };
  }

  // What reads text gives back what is to be read next: after a marker, or again because it was no call.

  private readOutside(text: string): string {
    const rest = this.readBare(text);
    if (rest !== null) return rest;
    const whole = this.partial + text;
    const first = firstMarker(whole, this.begins);
    if (first !== null) return this.readBegin(whole, first.marker, first.at);
    const keep = Math.max(0, ...this.begins.map((begin) => partialMarker(whole, begin)));
    this.partial = whole.slice(whole.length - keep);
    this.say(whole.slice(0, whole.length - keep));
    return '';
  }

  private readBegin(text: string, begin: string, at: number): string {
    this.partial = '';
    const before = text.slice(0, at);
    const bare = begin === this.options.dialect.unmarked;
    const isLine = this.answer.isLine(before);
    this.say(before);
    const isQuoted = bare && (!isLine || this.answer.isCode);
    if (isQuoted) this.say(begin);
    else this.openBlock(begin, bare);
    return text.slice(bare && !isQuoted ? at : at + begin.length);
  }

  /** Before any prose, JSON may be calls by itself, with a `;` between; null: the answer has anything else. */
  private readBare(text: string): string | null {
    const { bare, opens } = this.options.dialect;
    if (!bare || this.answer.isSaid || this.partial !== '') return null;
    const at = text.search(this.calls.count > 0 ? /[^\s;]/ : /\S/);
    const begins = opens.includes(text.charAt(at));
    if (at !== -1 && !begins) return null;
    if (this.calls.count === 0) this.say(at === -1 ? text : text.slice(0, at));
    if (at === -1) return '';
    this.openBlock(text.charAt(at), true);
    return text.slice(at);
  }

  private readInside(text: string): string {
    const marker = this.options.dialect.end;
    if (marker === null || marker.id !== null) return this.feed(text);
    const whole = this.partial + text;
    const at = whole.indexOf(marker.text);
    const end = at === -1 ? whole.length - partialMarker(whole, marker.text) : at;
    this.partial = '';
    const { block } = this;
    const again = end === 0 ? '' : this.feed(whole.slice(0, end));
    if (again !== '' || this.block !== block) return again + whole.slice(end);
    if (at !== -1)
      return this.endMarker(marker, { text: marker.text }) + whole.slice(at + marker.text.length);
    this.partial = whole.slice(end);
    return '';
  }

  private beginMarker(marker: Marker): void {
    const isQuoted = this.block?.body.quotes === true;
    const doubt = this.block?.doubt ?? null;
    if (this.block !== null && doubt !== null) {
      if (isQuoted) doubt.marker({ marker: 'begin' }, marker.text, false);
      else this.settle(this.block, doubt, true);
    } else if (isQuoted) this.text(marker.text);
    if (isQuoted) return;
    while (this.block !== null) this.text(this.closeBlock(false));
    this.openBlock(this.spelled(marker), false);
  }

  /** Gives back what is to be read again. */
  private endMarker(marker: Marker, piece: Piece): string {
    const { block } = this;
    const spelled = this.spelled(marker);
    if (block === null) {
      this.say(spelled);
      return '';
    }
    if (block.body.quotes) {
      this.sink.hold();
      block.doubt ??= new DoubtedEnd(block.body, this.behindEnd);
      block.doubt.marker(piece, marker.text, true);
      return '';
    }
    if (block.doubt !== null) this.settle(block, block.doubt, true);
    return this.closeBlock(false, spelled);
  }

  /** @param isQuoted whether the marker is text of the arguments, and not the block's end */
  private settle(block: Block, doubt: DoubtedEnd, isQuoted: boolean): void {
    block.doubt = null;
    this.sink.release(isQuoted);
    if (isQuoted) {
      block.raw += doubt.written;
      return;
    }
    block.body = doubt.ended;
    const [end, ...pieces] = doubt.pieces;
    const marker = this.options.dialect.end;
    this.text(this.closeBlock(false, end === undefined || marker === null ? '' : this.spelled(marker)));
    for (const piece of pieces) feed(this, piece);
  }

  private flushPartial(): void {
    const { partial } = this;
    this.partial = '';
    if (this.block === null) this.say(partial);
    else this.text(this.feed(partial));
  }

  /** @param begin what began it, as text */
  private openBlock(begin: string, bare: boolean): void {
    const { dialect, use } = this.options;
    const tool = (name: string): Tool | undefined => use.tools.find((each) => each.name === name);
    const accepts = (name: string): boolean => !bare || tool(name) !== undefined;
    const body = dialect.newBody({
      sink: this.sink,
      accepts,
      parametersOf: (name) => tool(name)?.parameters ?? null,
      many: use.parallel,
    });
    this.block = { body, begin, raw: '', bare, doubt: null };
  }

  private feed(text: string): string {
    const { block } = this;
    if (block === null) return text;
    if (block.doubt !== null) return this.weigh(block, block.doubt, text);
    if (block.body.state === 'undecided') block.raw += text;
    const rest = block.body.push(text);
    if (block.body.state === 'text') return this.closeBlock(true);
    if (rest === null || (this.options.dialect.end !== null && !block.bare)) return '';
    this.block = null;
    return rest;
  }

  private weigh(block: Block, doubt: DoubtedEnd, text: string): string {
    let taken = 0;
    for (const char of text) {
      taken += char.length;
      const found = doubt.take(char);
      if (found === 'open') continue;
      this.settle(block, doubt, found === 'quoted');
      return text.slice(taken);
    }
    return '';
  }

  /** @param marker what ended it, as text */
  private closeBlock(cut: boolean, marker = ''): string {
    const { block } = this;
    if (block === null) return '';
    block.body.end(cut);
    this.block = null;
    if (block.body.state === 'call') return '';
    this.say(block.begin);
    return block.raw.slice(block.bare ? block.begin.length : 0) + marker;
  }

  private say(text: string): void {
    this.answer.say(text, this.calls.count > 0);
  }

  private spelled({ text, isSpecial }: Marker): string {
    return isSpecial && this.options.skipSpecialTokens ? '' : text;
  }
}
