// Arguments as Gemma's models write them, read while they come and passed on as JSON: {KEY:VALUE,…}, names bare, texts
// between two marks and as they stand. JSON is read too, which such models write where a grammar holds them to it.
// Of arguments that cannot be understood further, what was read so far stays.

import { partialMarker } from './partial-marker.js';
import { pythonLiteralToJson } from './python-literal.js';
import type { ArgumentsBody, CallSink } from './tool.js';
import { longestName } from './xml-syntax.js';

/** An object or a list that is open, and whether it has anything yet. */
interface Level {
  readonly close: '}' | ']';
  isEmpty: boolean;
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** What ends a name or a value that stands for itself. */
const endsName = /[:,{}[\]]/;
const endsScalar = /[,}\]]/;

export class PairArguments implements ArgumentsBody {
  private at: 'begin' | 'key' | 'colon' | 'value' | 'text' | 'json' | 'scalar' | 'next' | 'done' = 'begin';
  private levels: Level[] = [];
  /** What was not understood yet. */
  private rest = '';
  /** Of a value that is needed whole. */
  private scalar = '';
  /** Whether a backslash stands before what comes of a text in JSON. */
  private escaped = false;

  /** @param quote around texts */
  constructor(
    private readonly sink: CallSink,
    private readonly quote: string,
  ) {}

  /** Of a call of the name, which is sure. */
  static of(sink: CallSink, name: string, quote: string): PairArguments {
    sink.begin(name);
    return new PairArguments(sink, quote);
  }

  get quotes(): boolean {
    return this.isText || (this.at === 'key' && this.markOfName !== null);
  }

  copy(): PairArguments {
    const levels = this.levels.map((level) => ({ ...level }));
    return Object.assign(new PairArguments(this.sink, this.quote), this, { levels });
  }

  push(text: string): string | null {
    this.rest += text;
    while (this.step());
    if (this.at !== 'done') return null;
    const { rest } = this;
    this.rest = '';
    return rest;
  }

  end(cut: boolean): void {
    if (cut || this.at === 'done') return;
    if (this.at === 'text') this.say(escapedText(this.rest));
    if (this.escaped) this.say('\\');
    if (this.isText) this.say('"');
    if (this.at === 'scalar') this.say(scalarToJson(this.scalar));
    if (this.at === 'value' && this.top?.close === '}') this.say('null');
    this.closeAll();
  }

  private get isText(): boolean {
    return this.at === 'text' || this.at === 'json';
  }

  /** What stands around a name; null: nothing. */
  private get markOfName(): string | null {
    return [this.quote, '"'].find((mark) => this.rest.startsWith(mark)) ?? null;
  }

  private get top(): Level | undefined {
    return this.levels.at(-1);
  }

  /** Whether it came further. */
  private step(): boolean {
    switch (this.at) {
      case 'text':
        return this.readText();
      case 'json':
        return this.readJsonText();
      case 'scalar':
        return this.readScalar();
      case 'done':
        return false;
      default:
        this.rest = this.rest.trimStart();
        return this.rest !== '' && this.readMark();
    }
  }

  /** At the first character of what comes. */
  private readMark(): boolean {
    const first = this.rest.charAt(0);
    switch (this.at) {
      case 'begin':
        return this.open('}');
      case 'key':
        if (first === '}' || first === ',') return this.readNext(first);
        return this.readKey();
      case 'colon':
        return first === ':' ? this.goOn('value', 1) : this.closeAll();
      case 'value':
        return this.readValue(first);
      default:
        return this.readNext(first);
    }
  }

  private readKey(): boolean {
    const { rest, quote } = this;
    if (rest !== quote && quote.startsWith(rest)) return false;
    const mark = this.markOfName;
    const from = mark?.length ?? 0;
    const at = mark === null ? rest.search(endsName) : endOfName(rest, mark);
    if (at === -1) return rest.length > longestName ? this.closeAll() : false;
    const name = mark === null ? rest.slice(0, at).trim() : rest.slice(from, at);
    if (at > longestName || (mark === null && (rest.charAt(at) !== ':' || name === '')))
      return this.closeAll();
    this.item(`${mark === '"' ? jsonText(name) : JSON.stringify(name)}:`);
    return this.goOn('colon', mark === null ? at : at + from);
  }

  private readValue(first: string): boolean {
    const { rest, quote } = this;
    const isList = this.top?.close === ']';
    if (isList && (first === ']' || first === ',')) return this.readNext(first);
    if (rest !== quote && quote.startsWith(rest)) return false;
    if (rest.startsWith(quote)) return this.beginText('text', quote.length);
    if (first === '"') return this.beginText('json', 1);
    if (first === '{' || first === '[') return this.open(first === '{' ? '}' : ']');
    if (isList) this.item('');
    this.scalar = '';
    return this.goOn('scalar', 0);
  }

  private beginText(at: 'text' | 'json', length: number): boolean {
    if (this.top?.close === ']') this.item('');
    this.say('"');
    return this.goOn(at, length);
  }

  private open(close: Level['close']): boolean {
    if (this.top?.close === ']') this.item('');
    this.say(close === '}' ? '{' : '[');
    this.levels.push({ close, isEmpty: true });
    return this.goOn(close === '}' ? 'key' : 'value', 1);
  }

  private readText(): boolean {
    const { rest, quote } = this;
    const at = rest.indexOf(quote);
    const end = at === -1 ? rest.length - partialMarker(rest, quote) : at;
    this.say(escapedText(rest.slice(0, end)));
    if (at === -1) {
      this.rest = rest.slice(end);
      return false;
    }
    this.say('"');
    return this.goOn('next', at + quote.length);
  }

  private readJsonText(): boolean {
    const { rest } = this;
    let at = 0;
    while (at < rest.length && (this.escaped || rest.charAt(at) !== '"')) {
      this.escaped = rest.charAt(at) === '\\' && !this.escaped;
      at += 1;
    }
    const isEnd = at < rest.length;
    this.say(controlsEscaped(rest.slice(0, at)));
    if (isEnd) this.say('"');
    this.goOn(isEnd ? 'next' : 'json', isEnd ? at + 1 : at);
    return isEnd;
  }

  private readScalar(): boolean {
    const end = this.rest.search(endsScalar);
    this.scalar += end === -1 ? this.rest : this.rest.slice(0, end);
    if (end === -1) {
      this.rest = '';
      return false;
    }
    this.say(scalarToJson(this.scalar));
    return this.goOn('next', end);
  }

  private readNext(char: string): boolean {
    const { top } = this;
    if (char === ',') return this.goOn(top?.close === ']' ? 'value' : 'key', 1);
    if (top === undefined || char !== top.close) return this.closeAll();
    this.say(top.close);
    this.levels.pop();
    return this.goOn(this.levels.length === 0 ? 'done' : 'next', 1);
  }

  /** Another of what the open object or list has. */
  private item(text: string): void {
    const { top } = this;
    if (top === undefined) return;
    this.say(top.isEmpty ? text : `,${text}`);
    top.isEmpty = false;
  }

  /** Nothing more can be understood, or comes. */
  private closeAll(): false {
    if (this.levels.length === 0) this.say('{}');
    if (this.at === 'colon') this.say('null');
    while (this.levels.length > 0) this.say(this.levels.pop()?.close ?? '');
    this.at = 'done';
    return false;
  }

  private say(text: string): void {
    if (text !== '') this.sink.arguments(text);
  }

  private goOn(at: typeof this.at, from: number): true {
    this.at = at;
    this.rest = this.rest.slice(from);
    return true;
  }
}

const escapedText = (text: string): string => JSON.stringify(text).slice(1, -1);

/** JSON has none of them in its texts; models write line breaks. */
const controlsEscaped = (text: string): string => text.replace(/[^ -\uffff]/g, escapedText);

/** A name that stands in JSON already. */
const jsonText = (name: string): string => `"${controlsEscaped(name)}"`;

/** Where the mark stands that ends a name which the same mark begins, or beyond the longest name. */
function endOfName(rest: string, mark: string): number {
  let at = rest.indexOf(mark, mark.length);
  while (mark === '"' && at !== -1 && at <= longestName && isEscaped(rest, at))
    at = rest.indexOf(mark, at + 1);
  return at;
}

const isEscaped = (text: string, at: number): boolean => {
  const backslashes = /\\*$/.exec(text.slice(0, at))?.[0].length ?? 0;
  return backslashes % 2 === 1;
};

/** What stands for itself: a number, a constant as JSON or Python has it, or a text. */
function scalarToJson(written: string): string {
  const text = written.trim();
  if (text === '') return 'null';
  if (jsonNumber.test(text) || /^(?:true|false|null)$/.test(text)) return text;
  return /^(?:True|False|None)$/.test(text) ? (pythonLiteralToJson(text) ?? text) : JSON.stringify(text);
}
