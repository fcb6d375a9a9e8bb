// Parses what operators combine: constants, names, lists, dicts, and what stands behind them: attributes, calls, filters,
// tests.

import type { TemplateSyntaxError } from './errors.js';
import { filters } from './filters.js';
import type { Arguments, Expression } from './nodes.js';
import type { TokenStream } from './token-stream.js';
import { tests } from './value-tests.js';
import { Float, type Value } from './values.js';

const constants: ReadonlyMap<string, Value> = new Map([
  ...(['true', 'True'] as const).map((name) => [name, true] as const),
  ...(['false', 'False'] as const).map((name) => [name, false] as const),
  ...(['none', 'None'] as const).map((name) => [name, null] as const),
]);
/** What an argument of a test without parentheses begins with. */
const testArguments = new Set(['name', 'string', 'integer', 'float']);
const noArguments: Arguments = { positional: [], named: [] };

export abstract class OperandParser {
  /** How many conditions enclose this place: within one, a filter that is not there is an error only where it is used. */
  protected conditions = 0;
  /** Filters and tests that are not there, outside of conditions. */
  protected readonly missing: TemplateSyntaxError[] = [];

  constructor(protected readonly tokens: TokenStream) {}

  protected abstract expression(): Expression;

  /** An expression, or a tuple without parentheses. */
  protected tuple(): Expression {
    return this.tupleOf(() => this.expression());
  }

  protected tupleOf(item: () => Expression): Expression {
    const first = item();
    if (!this.tokens.isOperator(',')) return first;
    return { kind: 'tuple', items: this.#rest(first, () => this.#endsTuple(), item) };
  }

  protected operand(): Expression {
    const { kind, text } = this.tokens.current;
    switch (kind) {
      case 'name': {
        this.tokens.next();
        const value = constants.get(text);
        return value === undefined ? { kind: 'name', name: text } : { kind: 'constant', value };
      }
      case 'string':
        return { kind: 'constant', value: this.#strings() };
      case 'integer':
        return { kind: 'constant', value: integerOf(this.tokens.next().text) };
      case 'float':
        return { kind: 'constant', value: new Float(Number(this.tokens.next().text.replaceAll('_', ''))) };
      default:
        return this.#enclosed();
    }
  }

  /** With what stands behind it and binds closer than a sign. */
  protected postfixed(first: Expression): Expression {
    let node = first;
    for (;;) {
      if (this.tokens.skip('.')) node = this.#dotted(node);
      else if (this.tokens.skip('[')) node = this.#subscript(node);
      else if (this.tokens.isOperator('(')) node = { kind: 'call', callee: node, args: this.#arguments() };
      else return node;
    }
  }

  /** With its filters and tests. */
  protected filtered(first: Expression): Expression {
    let node = first;
    for (;;) {
      if (this.tokens.skip('|')) node = this.filter(node);
      else if (this.tokens.isName('is')) node = this.#test(node);
      else if (this.tokens.isOperator('(')) node = { kind: 'call', callee: node, args: this.#arguments() };
      else return node;
    }
  }

  /** Filters, of which the first one's name stands here. @param of null: the text of a block */
  protected filters(): Expression {
    let node = this.filter(null);
    while (this.tokens.skip('|')) node = this.filter(node);
    return node;
  }

  protected filter(of: Expression | null): Expression {
    const name = this.#dottedName();
    this.#requireKnown('filter', name, filters.has(name));
    return { kind: 'filter', name, of, args: this.tokens.isOperator('(') ? this.#arguments() : noArguments };
  }

  #test(of: Expression): Expression {
    const { tokens } = this;
    tokens.next();
    const isNegated = tokens.skip('not');
    const name = this.#dottedName();
    this.#requireKnown('test', name, tests.has(name));
    const node: Expression = { kind: 'test', name, of, args: this.#testArguments() };
    return isNegated ? { kind: 'unary', operator: 'not', of: node } : node;
  }

  #testArguments(): Arguments {
    const { tokens } = this;
    if (tokens.isOperator('(')) return this.#arguments();
    const takesOne = testArguments.has(tokens.current.kind) || tokens.isOperator('[', '{');
    if (!takesOne || tokens.isName('else', 'or', 'and')) return noArguments;
    if (tokens.isName('is')) throw tokens.error('You cannot chain multiple tests with is');
    return { positional: [this.postfixed(this.operand())], named: [] };
  }

  #requireKnown(kind: string, name: string, isKnown: boolean): void {
    if (!isKnown && this.conditions === 0)
      this.missing.push(this.tokens.error(`No ${kind} named '${name}'.`));
  }

  #dottedName(): string {
    let name = this.tokens.expect('name').text;
    while (this.tokens.skip('.')) name += `.${this.tokens.expect('name').text}`;
    return name;
  }

  #arguments(): Arguments {
    const { tokens } = this;
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    const more: { list?: Expression; dict?: Expression } = {};
    tokens.expect('operator', '(');
    for (let isFirst = true; !tokens.isOperator(')'); isFirst = false) {
      if (!isFirst) tokens.expect('operator', ',');
      if (tokens.isOperator(')')) break;
      if (tokens.skip('**')) more.dict = this.expression();
      else if (tokens.skip('*')) more.list = this.expression();
      else if (
        tokens.current.kind === 'name' &&
        tokens.peek(1).kind === 'operator' &&
        tokens.peek(1).text === '='
      ) {
        const name = tokens.next().text;
        tokens.next();
        if (named.some(([other]) => other === name)) throw tokens.error(`keyword argument repeated: ${name}`);
        named.push([name, this.expression()]);
      } else {
        if (named.length > 0 || more.list !== undefined || more.dict !== undefined)
          throw tokens.error('invalid syntax for function call expression');
        positional.push(this.expression());
      }
    }
    tokens.expect('operator', ')');
    return { positional, named, ...more };
  }

  #dotted(of: Expression): Expression {
    const { kind, text } = this.tokens.next();
    if (kind === 'name') return { kind: 'attribute', of, name: text };
    if (kind !== 'integer') throw this.tokens.error('expected name or number');
    return { kind: 'item', of, index: { kind: 'constant', value: integerOf(text) } };
  }

  #subscript(of: Expression): Expression {
    const { tokens } = this;
    const bound = (): Expression | null => (tokens.isOperator(':', ']') ? null : this.expression());
    const start = bound();
    if (start !== null && tokens.skip(']')) return { kind: 'item', of, index: start };
    tokens.expect('operator', ':');
    const stop = bound();
    const step = tokens.skip(':') ? bound() : null;
    tokens.expect('operator', ']');
    return { kind: 'slice', of, start, stop, step };
  }

  #strings(): string {
    let text = '';
    while (this.tokens.current.kind === 'string') text += this.tokens.next().text;
    return text;
  }

  #enclosed(): Expression {
    const { tokens } = this;
    const item = (): Expression => this.expression();
    if (tokens.skip('(')) {
      if (tokens.skip(')')) return { kind: 'tuple', items: [] };
      const node = this.tuple();
      tokens.expect('operator', ')');
      return node;
    }
    if (tokens.skip('[')) {
      const items = tokens.isOperator(']') ? [] : this.#rest(item(), () => tokens.isOperator(']'), item);
      tokens.expect('operator', ']');
      return { kind: 'list', items };
    }
    if (tokens.skip('{')) return this.#dict();
    throw tokens.unexpected();
  }

  #dict(): Expression {
    const { tokens } = this;
    const entries: [Expression, Expression][] = [];
    while (!tokens.isOperator('}')) {
      if (entries.length > 0) tokens.expect('operator', ',');
      if (tokens.isOperator('}')) break;
      const key = this.expression();
      tokens.expect('operator', ':');
      entries.push([key, this.expression()]);
    }
    tokens.expect('operator', '}');
    return { kind: 'dict', entries };
  }

  #rest(first: Expression, ends: () => boolean, item: () => Expression): Expression[] {
    const items = [first];
    while (this.tokens.skip(',')) {
      if (ends()) break;
      items.push(item());
    }
    return items;
  }

  #endsTuple(): boolean {
    const { tokens } = this;
    return (
      ['printed', 'end', 'eof'].includes(tokens.current.kind) || tokens.isOperator(')') || tokens.isName('in')
    );
  }
}

function integerOf(text: string): number {
  return Number(text.replaceAll('_', ''));
}
