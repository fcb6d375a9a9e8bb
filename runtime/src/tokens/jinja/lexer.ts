// Cuts a template into data and tokens, with trim_blocks and lstrip_blocks as transformers sets them.

import { TemplateSyntaxError } from './errors.js';
import { space, strip } from './python-strings.js';

export type TokenKind =
  | 'data'
  | 'begin'
  | 'end'
  | 'print'
  | 'printed'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'eof';

export interface Token {
  /** `begin` and `end` enclose a statement, `print` and `printed` an expression. */
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

const opening = new RegExp(
  String.raw`\{%([-+]?)${space}*raw${space}*(?:-%\}${space}*|%\})|\{([%{#])([-+]?)`,
  'gu',
);
const rawEnd = new RegExp(String.raw`\{%([-+]?)${space}*endraw${space}*(?:\+%\}|-%\}${space}*|%\}\n?)`, 'gu');
const commentEnd = new RegExp(String.raw`\+#\}|-#\}${space}*|#\}\n?`, 'gu');
const blockEnd = new RegExp(String.raw`\+%\}|-%\}${space}*|%\}\n?`, 'yu');
const printEnd = new RegExp(String.raw`-\}\}${space}*|\}\}`, 'yu');
const spaces = new RegExp(`${space}+`, 'yu');
const onlySpaces = new RegExp(`^${space}+$`, 'u');
const token =
  /(?<float>(?<!\.)\d+(?:_\d+)*(?:(?:\.\d+(?:_\d+)*)?[eE][+-]?\d+(?:_\d+)*|\.\d+(?:_\d+)*))|(?<integer>0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*)|(?<name>[\p{ID_Start}_][\p{ID_Continue}]*)|(?<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")|(?<operator>\/\/|\*\*|==|!=|>=|<=|[-+*/%~()[\]{}<>=.:|,;])/suy;
const closes: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** @throws TemplateSyntaxError */
export function lex(source: string): Token[] {
  return new Lexer(source.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '')).tokens();
}

class Lexer {
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #counted = 0;

  constructor(private readonly source: string) {}

  tokens(): Token[] {
    while (this.#at < this.source.length) this.#readRoot();
    this.#add('eof', '');
    return this.#tokens;
  }

  #readRoot(): void {
    opening.lastIndex = this.#at;
    const found = opening.exec(this.source);
    if (found === null) {
      this.#addData(this.source.slice(this.#at));
      this.#at = this.source.length;
      return;
    }
    const [whole, rawSign, kind, otherSign = ''] = found;
    this.#addData(this.#stripped(found.index, rawSign ?? otherSign, kind !== '{'));
    this.#at = found.index + whole.length;
    if (kind === undefined) this.#readRaw();
    else if (kind === '#') this.#skip(commentEnd, 'Missing end of comment tag');
    else this.#readCode(kind === '%');
  }

  /** The data up to an opening, as its sign and lstrip_blocks leave it. */
  #stripped(end: number, sign: string, isBlock: boolean): string {
    const data = this.source.slice(this.#at, end);
    if (sign === '-') return strip(data, null, 'right');
    if (sign === '+' || !isBlock) return data;
    const start = data.lastIndexOf('\n') + 1;
    const beginsLine = start > 0 || this.#at === 0 || this.source[this.#at - 1] === '\n';
    return beginsLine && onlySpaces.test(data.slice(start)) ? data.slice(0, start) : data;
  }

  #readRaw(): void {
    if (this.#at === this.source.length) return;
    rawEnd.lastIndex = this.#at;
    const found = rawEnd.exec(this.source);
    if (found === null) throw this.#error('Missing end of raw directive');
    this.#addData(this.#stripped(found.index, found[1] ?? '', true));
    this.#at = found.index + found[0].length;
  }

  #skip(end: RegExp, otherwise: string): void {
    end.lastIndex = this.#at;
    const found = end.exec(this.source);
    if (found === null) throw this.#error(otherwise);
    this.#at = found.index + found[0].length;
  }

  #readCode(isBlock: boolean): void {
    this.#add(isBlock ? 'begin' : 'print', '');
    const open: string[] = [];
    const end = isBlock ? blockEnd : printEnd;
    while (this.#at < this.source.length) {
      if (open.length === 0 && this.#take(end) !== null) {
        this.#add(isBlock ? 'end' : 'printed', '');
        return;
      }
      if (this.#take(spaces) !== null) continue;
      const start = this.#at;
      const groups = this.#take(token)?.groups;
      if (groups === undefined) throw this.#error(`unexpected char ${JSON.stringify(this.source[this.#at])}`);
      const [kind = '', text = ''] =
        Object.entries(groups).find(([, each]) => (each as unknown) !== undefined) ?? [];
      this.#addToken(kind as TokenKind, text, start);
      if (kind === 'operator') this.#balance(open, text);
    }
    throw this.#error(`unexpected end of template, expected ${isBlock ? "'%}'" : "'}}'"}`);
  }

  #balance(open: string[], operator: string): void {
    if ('([{'.includes(operator)) open.push(operator);
    else if (operator in closes && open.pop() !== closes[operator])
      throw this.#error(`unexpected '${operator}'`);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #addData(text: string): void {
    if (text !== '') this.#add('data', text);
  }

  #addToken(kind: TokenKind, text: string, start: number): void {
    this.#add(kind, kind === 'string' ? textOfLiteral(text) : text, start);
  }

  #add(kind: TokenKind, text: string, at = this.#at): void {
    this.#tokens.push({ kind, text, line: this.#lineAt(at) });
  }

  #lineAt(at: number): number {
    for (; this.#counted < at; this.#counted++) if (this.source[this.#counted] === '\n') this.#line += 1;
    return this.#line;
  }

  #error(message: string): TemplateSyntaxError {
    return new TemplateSyntaxError(message, this.#lineAt(this.#at));
  }
}

const escapes: Readonly<Record<string, string>> = {
  ...{ '\n': '', '\\': '\\', "'": "'", '"': '"', a: '\x07', b: '\b' },
  ...{ f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};

/** The text that a literal stands for, with Python's escapes. @param literal with its quotes */
function textOfLiteral(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(
      /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gsu,
      (whole, octal?: string, x?: string, u?: string, long?: string, other = '') => {
        if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
        const hex = x ?? u ?? long;
        if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
        return escapes[other as string] ?? whole;
      },
    );
}
