// Parses expressions by Jinja's precedence of operators: a filter binds closer than any operator, a sign closer than a
// filter.

import type { BinaryOperator, Comparison, Expression } from './nodes.js';
import { OperandParser } from './operand-parser.js';

const comparisons = ['==', '!=', '<', '<=', '>', '>='] as const;

export class ExpressionParser extends OperandParser {
  override expression(): Expression {
    const missing = this.missing.length;
    let then = this.#or();
    while (this.tokens.skip('if')) {
      // It is behind a condition after all.
      this.missing.length = missing;
      this.conditions += 1;
      const test = this.#or();
      const otherwise = this.tokens.skip('else') ? this.expression() : null;
      this.conditions -= 1;
      then = { kind: 'condition', test, then, otherwise };
    }
    return then;
  }

  /** As in `for x in A if B`, where the condition is not the expression's. */
  protected tupleWithoutCondition(): Expression {
    return this.tupleOf(() => this.#or());
  }

  #or(): Expression {
    let left = this.#and();
    while (this.tokens.skip('or')) left = { kind: 'logic', operator: 'or', left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.tokens.skip('and')) left = { kind: 'logic', operator: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (this.tokens.skip('not')) return { kind: 'unary', operator: 'not', of: this.#not() };
    const first = this.#sum();
    const rest: [Comparison, Expression][] = [];
    for (let operator = this.#comparison(); operator !== null; operator = this.#comparison())
      rest.push([operator, this.#sum()]);
    return rest.length === 0 ? first : { kind: 'compare', first, rest };
  }

  #comparison(): Comparison | null {
    const { tokens } = this;
    if (tokens.skip('in')) return 'in';
    if (tokens.isName('not') && tokens.peek(1).kind === 'name' && tokens.peek(1).text === 'in') {
      tokens.next();
      tokens.next();
      return 'not in';
    }
    return comparisons.find((operator) => tokens.skip(operator)) ?? null;
  }

  #sum(): Expression {
    return this.#binary(['+', '-'], () => this.#concat());
  }

  #concat(): Expression {
    const first = this.#product();
    const items = [first];
    while (this.tokens.skip('~')) items.push(this.#product());
    return items.length === 1 ? first : { kind: 'concat', items };
  }

  #product(): Expression {
    return this.#binary(['*', '/', '//', '%'], () => this.#power());
  }

  #power(): Expression {
    return this.#binary(['**'], () => this.filtered(this.#signed()));
  }

  #binary(operators: readonly BinaryOperator[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((each) => this.tokens.skip(each));
      if (operator === undefined) return left;
      left = { kind: 'binary', operator, left, right: operand() };
    }
  }

  #signed(): Expression {
    const operator = (['-', '+'] as const).find((each) => this.tokens.skip(each));
    return this.postfixed(
      operator === undefined ? this.operand() : { kind: 'unary', operator, of: this.#signed() },
    );
  }
}
