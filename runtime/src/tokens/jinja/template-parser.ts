// Parses a template: its data, what it prints, its statements.

import { ExpressionParser } from './expression-parser.js';
import { lex } from './lexer.js';
import type { Body, Expression, Macro, Parameter, Statement, Target } from './nodes.js';
import { TokenStream } from './token-stream.js';

/** @throws TemplateSyntaxError */
export function parseTemplate(source: string): Body {
  return new TemplateParser(new TokenStream(lex(source))).template();
}

class TemplateParser extends ExpressionParser {
  #loops = 0;

  template(): Body {
    const body = this.#body();
    if (this.tokens.current.kind !== 'eof') throw this.tokens.unexpected();
    const [missing] = this.missing;
    if (missing !== undefined) throw missing;
    return body;
  }

  /** Up to one of the tags, which is not read. */
  #body(...ends: readonly string[]): Body {
    const statements: Statement[] = [];
    for (;;) {
      const { kind, text } = this.tokens.current;
      if (kind === 'data') {
        statements.push({ kind: 'data', text });
        this.tokens.next();
      } else if (kind === 'print') {
        this.tokens.next();
        statements.push({ kind: 'print', of: this.tuple() });
        this.tokens.expect('printed');
      } else if (kind === 'begin') {
        this.tokens.next();
        if (this.tokens.isName(...ends)) return statements;
        statements.push(this.#statement());
        this.tokens.expect('end');
      } else if (ends.length === 0) {
        return statements;
      } else {
        throw this.tokens.error(`unexpected end of template, expected ${ends.join(' or ')}`);
      }
    }
  }

  /** What stands between a tag's end and an end tag. */
  #enclosed(end: string): Body {
    this.tokens.expect('end');
    const body = this.#body(end);
    this.tokens.expect('name', end);
    return body;
  }

  #statement(): Statement {
    const tag = this.tokens.expect('name').text;
    switch (tag) {
      case 'if':
        return this.#if();
      case 'for':
        return this.#for();
      case 'set':
        return this.#set();
      case 'with':
        return this.#with();
      case 'macro':
        return this.#macro();
      case 'call':
        return this.#call();
      case 'filter':
        return { kind: 'filter block', filter: this.filters(), body: this.#enclosed('endfilter') };
      case 'generation':
        return { kind: 'scope', body: this.#enclosed('endgeneration') };
      case 'block':
        return this.#block();
      case 'break':
      case 'continue':
        if (this.#loops === 0) throw this.tokens.error(`'${tag}' outside loop`);
        return { kind: tag };
      default:
        throw this.tokens.error(`Encountered unknown tag '${tag}'.`);
    }
  }

  #if(): Statement {
    this.conditions += 1;
    const test = this.tupleWithoutCondition();
    this.tokens.expect('end');
    const then = this.#body('elif', 'else', 'endif');
    let otherwise: Body = [];
    if (this.tokens.skip('elif')) otherwise = [this.#if()];
    else if (this.tokens.skip('else')) otherwise = this.#enclosed('endif');
    else this.tokens.next();
    this.conditions -= 1;
    return { kind: 'if', test, then, otherwise };
  }

  #for(): Statement {
    const target = this.#target(['in']);
    this.tokens.expect('name', 'in');
    const items = this.tupleWithoutCondition();
    const condition = this.tokens.skip('if') ? this.expression() : null;
    this.tokens.expect('end');
    this.#loops += 1;
    const body = this.#body('endfor', 'else');
    this.#loops -= 1;
    const otherwise = this.tokens.skip('else') ? this.#enclosed('endfor') : [];
    this.tokens.skip('endfor');
    return { kind: 'for', target, items, condition, body, otherwise };
  }

  #set(): Statement {
    const target = this.#target([]);
    if (this.tokens.skip('=')) return { kind: 'set', target, value: this.tuple() };
    const filter = this.tokens.skip('|') ? this.filters() : null;
    return { kind: 'set block', target, filter, body: this.#enclosed('endset') };
  }

  #with(): Statement {
    const values: [Target, Expression][] = [];
    while (this.tokens.current.kind !== 'end') {
      if (values.length > 0) this.tokens.expect('operator', ',');
      const target = this.#oneTarget();
      this.tokens.expect('operator', '=');
      values.push([target, this.expression()]);
    }
    return { kind: 'with', values, body: this.#enclosed('endwith') };
  }

  #block(): Statement {
    this.tokens.expect('name');
    while (this.tokens.skip('scoped') || this.tokens.skip('required'));
    const body = this.#enclosed('endblock');
    if (this.tokens.current.kind === 'name') this.tokens.next();
    return { kind: 'scope', body };
  }

  #macro(): Statement {
    const name = this.tokens.expect('name').text;
    return { kind: 'macro', macro: this.#macroOf(name, this.#parameters(), 'endmacro') };
  }

  #call(): Statement {
    const parameters = this.tokens.isOperator('(') ? this.#parameters() : [];
    const call = this.expression();
    if (call.kind !== 'call') throw this.tokens.error('expected call');
    return { kind: 'call block', call, caller: this.#macroOf('caller', parameters, 'endcall') };
  }

  #macroOf(name: string, parameters: readonly Parameter[], end: string): Macro {
    const loops = this.#loops;
    this.#loops = 0;
    const before = this.tokens.position;
    const body = this.#enclosed(end);
    this.#loops = loops;
    return { name, parameters, body, reads: this.tokens.namesSince(before) };
  }

  #parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.tokens.expect('operator', '(');
    while (!this.tokens.isOperator(')')) {
      if (parameters.length > 0) this.tokens.expect('operator', ',');
      const name = this.tokens.expect('name').text;
      if (this.tokens.skip('=')) parameters.push({ name, default: this.expression() });
      else if (parameters.at(-1)?.default !== undefined)
        throw this.tokens.error('non-default argument follows default argument');
      else parameters.push({ name });
    }
    this.tokens.next();
    return parameters;
  }

  /** One name, or several with commas between them, up to one of the words or an operator. */
  #target(ends: readonly string[]): Target {
    const first = this.#oneTarget();
    if (!this.tokens.isOperator(',')) return first;
    const targets = [first];
    while (this.tokens.skip(',')) {
      if (this.tokens.isName(...ends) || this.tokens.isOperator('=', ')')) break;
      targets.push(this.#oneTarget());
    }
    return { kind: 'targets', targets };
  }

  #oneTarget(): Target {
    if (this.tokens.skip('(')) {
      const target = this.#target([]);
      this.tokens.expect('operator', ')');
      return target;
    }
    const name = this.tokens.expect('name').text;
    if (/^(true|false|none)$/i.test(name)) throw this.tokens.error(`can't assign to '${name}'`);
    return this.tokens.skip('.')
      ? { kind: 'field', of: name, name: this.tokens.expect('name').text }
      : { kind: 'name', name };
  }
}
