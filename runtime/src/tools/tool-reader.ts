// Separates text and calls of tools in one answer, while it comes. Marker tokens arrive by themselves; markers that
// the vocabulary has no token for are found in the text. Pure; one instance per answer.
// What turns out to be no call is text, marker and all: nothing that was generated is lost.

import type { Marker, ToolDialect } from './dialect.js';
import { JsonCall } from './json-call.js';
import { partialMarker } from './partial-marker.js';
import type { CallBody, CallSink, Tool, ToolCallDelta, ToolUse } from './tool.js';
import { beginFunction, XmlCall } from './xml-call.js';

export interface ToolReaderOptions {
  readonly dialect: ToolDialect;
  readonly use: ToolUse;
  readonly newCallId: () => string;
  /** Whether markers that are control tokens stay out of the text, where they turn out to begin no call. */
  readonly skipSpecialTokens: boolean;
}

interface Block {
  readonly body: CallBody;
  /** What began it, as text. */
  readonly begin: string;
  /** What came in it, as long as that may be text. */
  raw: string;
  /** Whether no marker began it, but what it begins with itself. */
  readonly bare: boolean;
}

export class ToolReader implements CallSink {
  private readonly options: ToolReaderOptions;
  /** Texts that begin a block. */
  private readonly begins: readonly string[];
  private content = '';
  private deltas: ToolCallDelta[] = [];
  private calls = 0;
  /** Null: outside of calls. */
  private block: Block | null = null;
  /** The end of the text that may be the beginning of a marker. */
  private partial = '';
  /** Space that counts only if text follows: what stands around calls is no part of the answer. */
  private space = '';
  private said = false;
  private cut = false;

  constructor(options: ToolReaderOptions) {
    this.options = options;
    const { kind, begin } = options.dialect;
    // Qwen3-Coder leaves its marker out at times. Under a grammar it does not.
    const mayLeaveOut = kind === 'qwenXml' && !options.use.tools.some(({ strict }) => strict);
    this.begins = [...(begin.id === null ? [begin.text] : []), ...(mayLeaveOut ? [beginFunction] : [])];
  }

  /** Whether a block of calls has begun, and not ended. */
  get isOpen(): boolean {
    return this.block !== null;
  }

  /** Whether the answer may have no more calls, and so ends. */
  get isFull(): boolean {
    return !this.options.use.parallel && this.calls > 0 && this.block === null;
  }

  /** Whether the answer asks for calls, the last of them whole as far as the model wrote it. */
  get asksForCalls(): boolean {
    return this.calls > 0 && !this.cut;
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

  marker(kind: 'begin' | 'end'): void {
    if (this.isFull) return;
    this.flushPartial();
    const { begin, end } = this.options.dialect;
    if (kind === 'begin' && this.block?.body.quotes === true) this.text(begin.text);
    else if (kind === 'begin') {
      while (this.block !== null) this.text(this.closeBlock(false));
      this.openBlock(this.spelled(begin), false);
    } else {
      const marker = end === null ? '' : this.spelled(end);
      this.text(this.block === null ? marker : this.closeBlock(false, marker));
    }
  }

  text(text: string): void {
    let rest = text;
    while (rest !== '' && !this.isFull)
      rest = this.block === null ? this.readOutside(rest) : this.readInside(rest);
  }

  /** The answer ends. `cut`: by a limit or a stop string, not by the model. */
  end(cut: boolean): void {
    do {
      this.flushPartial();
      this.cut ||= cut && this.block?.body.state === 'call';
      this.text(this.closeBlock(cut));
    } while (this.block !== null || this.partial !== '');
    if (this.calls === 0) this.content += this.space;
  }

  /** What came since the last time. */
  take(): { readonly content: string; readonly toolCalls: readonly ToolCallDelta[] } {
    const taken = { content: this.content, toolCalls: this.deltas };
    this.content = '';
    this.deltas = [];
    return taken;
  }

  begin(name: string): void {
    const id = this.options.newCallId();
    this.deltas.push({ index: this.calls, start: { id, name }, arguments: '' });
    this.calls += 1;
  }

  arguments(fragment: string): void {
    const index = this.calls - 1;
    const last = this.deltas.at(-1);
    if (last?.index === index && last.start === null)
      this.deltas[this.deltas.length - 1] = { ...last, arguments: last.arguments + fragment };
    else this.deltas.push({ index, start: null, arguments: fragment });
  }

  // What reads text gives back what is to be read next: after a marker, or again because it was no call.

  private readOutside(text: string): string {
    if (this.options.dialect.bare && !this.said) return this.readBare(text);
    const whole = this.partial + text;
    const [first] = this.begins
      .map((begin) => ({ begin, at: whole.indexOf(begin) }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at);
    if (first !== undefined) return this.readBegin(whole, first);
    const keep = Math.max(0, ...this.begins.map((begin) => partialMarker(whole, begin)));
    this.partial = whole.slice(whole.length - keep);
    this.say(whole.slice(0, whole.length - keep));
    return '';
  }

  private readBegin(text: string, { begin, at }: { readonly begin: string; readonly at: number }): string {
    this.partial = '';
    const before = text.slice(0, at);
    const bare = begin === beginFunction;
    const isQuoted = bare && !this.isLine(before);
    this.say(isQuoted ? before + begin : before);
    if (!isQuoted) this.openBlock(begin, bare);
    return text.slice(bare && !isQuoted ? at : at + begin.length);
  }

  /** Whether what comes behind a text begins a line. */
  private isLine(text: string): boolean {
    const before = this.space + text;
    const lineBreak = before.lastIndexOf('\n');
    return before.slice(lineBreak + 1).trim() === '' && (lineBreak !== -1 || !this.said);
  }

  /** Before any prose, an object may be a call by itself; several stand behind each other, or have a `;` between. */
  private readBare(text: string): string {
    const at = text.search(this.calls > 0 ? /[^\s;]/ : /\S/);
    if (at !== -1 && text[at] !== '{') this.say(text);
    else if (this.calls === 0) this.say(at === -1 ? text : text.slice(0, at));
    if (at === -1 || text[at] !== '{') return '';
    this.openBlock('{', true);
    return text.slice(at);
  }

  private readInside(text: string): string {
    const marker = this.options.dialect.end;
    if (marker === null || marker.id !== null) return this.feed(text);
    const whole = this.partial + text;
    const at = whole.indexOf(marker.text);
    const end = at === -1 ? whole.length - partialMarker(whole, marker.text) : at;
    this.partial = '';
    const again = end === 0 ? '' : this.feed(whole.slice(0, end));
    if (this.block === null) return again + whole.slice(end);
    if (at !== -1) return this.closeBlock(false, marker.text) + whole.slice(at + marker.text.length);
    this.partial = whole.slice(end);
    return '';
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
    const body =
      dialect.kind === 'qwenXml'
        ? new XmlCall(this, accepts, (name) => tool(name)?.parameters ?? null, use.parallel)
        : new JsonCall(this, accepts, dialect.end !== null && use.parallel);
    this.block = { body, begin, raw: '', bare };
  }

  private feed(text: string): string {
    const { block } = this;
    if (block === null) return text;
    if (block.body.state === 'undecided') block.raw += text;
    const rest = block.body.push(text);
    if (block.body.state === 'text') return this.closeBlock(true);
    if (rest === null || (this.options.dialect.end !== null && !block.bare)) return '';
    this.block = null;
    return rest;
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
    const visible = text.trimEnd();
    if (visible !== '') {
      const whole = this.space + visible;
      this.content += this.said || this.calls === 0 ? whole : whole.trimStart();
      this.said = true;
      this.space = '';
    }
    this.space += text.slice(visible.length);
  }

  private spelled({ text, isSpecial }: Marker): string {
    return isSpecial && this.options.skipSpecialTokens ? '' : text;
  }
}
