// Tokens one after the other, for the parsers.

import { TemplateSyntaxError } from './errors.js';
import type { Token, TokenKind } from './lexer.js';

const eof: Token = { kind: 'eof', text: '', line: 1 };

export class TokenStream {
  #at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  get current(): Token {
    return this.peek(0);
  }

  get position(): number {
    return this.#at;
  }

  /** All names that have been read since. */
  namesSince(position: number): ReadonlySet<string> {
    const read = this.tokens.slice(position, this.#at);
    return new Set(read.filter(({ kind }) => kind === 'name').map(({ text }) => text));
  }

  peek(ahead: number): Token {
    return this.tokens[this.#at + ahead] ?? this.tokens.at(-1) ?? eof;
  }

  next(): Token {
    const token = this.current;
    this.#at += 1;
    return token;
  }

  isName(...names: readonly string[]): boolean {
    return this.current.kind === 'name' && names.includes(this.current.text);
  }

  isOperator(...operators: readonly string[]): boolean {
    return this.current.kind === 'operator' && operators.includes(this.current.text);
  }

  /** Steps over a name or an operator if it stands here. */
  skip(text: string): boolean {
    const isHere = this.isName(text) || this.isOperator(text);
    if (isHere) this.#at += 1;
    return isHere;
  }

  /** @throws TemplateSyntaxError unless such a token stands here */
  expect(kind: TokenKind, text?: string): Token {
    const { current } = this;
    if (current.kind !== kind || (text !== undefined && current.text !== text))
      throw this.error(`expected ${text === undefined ? kind : `'${text}'`}, got ${nameOf(current)}`);
    return this.next();
  }

  error(message: string): TemplateSyntaxError {
    return new TemplateSyntaxError(message, this.current.line);
  }

  unexpected(): TemplateSyntaxError {
    return this.error(`unexpected ${nameOf(this.current)}`);
  }
}

function nameOf({ kind, text }: Token): string {
  switch (kind) {
    case 'eof':
      return 'end of template';
    case 'end':
      return "'%}'";
    case 'printed':
      return "'}}'";
    default:
      return text === '' ? kind : `'${text}'`;
  }
}
