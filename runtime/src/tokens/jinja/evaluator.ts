// Evaluates expressions of a template.

import { noNames } from './arguments.js';
import { compare, contains, isEqual } from './comparisons.js';
import { TemplateError, TemplateFlaw } from './errors.js';
import { filters } from './filters.js';
import { attributeOf, itemOf } from './lookups.js';
import type { Meter } from './meter.js';
import type { Arguments, Call, Comparison, Expression } from './nodes.js';
import { negate, operate } from './operators.js';
import { pythonText } from './python-text.js';
import type { Runtime } from './runtime.js';
import type { Scope } from './scope.js';
import { itemsOf, slice } from './sequences.js';
import {
  Callable,
  Dict,
  Tuple,
  Undefined,
  isTrue,
  textIn,
  typeName,
  type Args,
  type Value,
} from './values.js';
import { tests } from './value-tests.js';

type Of<Kind extends Expression['kind']> = Extract<Expression, { readonly kind: Kind }>;

export class Evaluator implements Runtime {
  constructor(readonly meter: Meter) {}

  /** @throws TemplateError what Python raises; TooMuchWork */
  evaluate(node: Expression, scope: Scope): Value {
    this.meter.spend();
    const value = (of: Expression): Value => this.evaluate(of, scope);
    switch (node.kind) {
      case 'constant':
        return node.value;
      case 'name':
        return scope.get(node.name);
      case 'list':
        return node.items.map(value);
      case 'tuple':
        return new Tuple(node.items.map(value));
      case 'dict':
        return new Dict(node.entries.map(([key, of]) => [value(key), value(of)] as const));
      case 'attribute':
        return attributeOf(value(node.of), node.name, this.meter);
      case 'item':
        return itemOf(value(node.of), value(node.index), this.meter);
      case 'slice':
        return this.#slice(node, scope);
      case 'call':
        return this.#call(node, scope);
      case 'filter':
        return this.filtered(node, scope, null);
      case 'test':
        return this.test(node.name, value(node.of), this.arguments(node.args, scope));
      case 'binary':
        return operate(node.operator, value(node.left), value(node.right), this.meter);
      case 'unary': {
        const operand = value(node.of);
        return node.operator === 'not' ? !isTrue(operand) : negate(operand, node.operator);
      }
      case 'logic': {
        const left = value(node.left);
        return isTrue(left) === (node.operator === 'and') ? value(node.right) : left;
      }
      case 'compare':
        return this.#compare(node, scope);
      case 'concat':
        return this.#concat(node.items.map(value));
      case 'condition':
        if (isTrue(value(node.test))) return value(node.then);
        return node.otherwise === null
          ? new Undefined('an inline if-expression without else has no value')
          : value(node.otherwise);
    }
  }

  /** @param piped what the innermost filter gets where the node has nothing to filter */
  filtered(node: Expression, scope: Scope, piped: Value): Value {
    if (node.kind !== 'filter') return this.evaluate(node, scope);
    const of = node.of === null ? piped : this.filtered(node.of, scope, piped);
    return this.filter(node.name, of, this.arguments(node.args, scope));
  }

  arguments({ positional, named, list, dict }: Arguments, scope: Scope): Args {
    const values = positional.map((each) => this.evaluate(each, scope));
    if (list !== undefined) values.push(...itemsOf(this.evaluate(list, scope), this.meter));
    if (named.length === 0 && dict === undefined) return { positional: values, named: noNames };
    const names = new Map(named.map(([name, each]) => [name, this.evaluate(each, scope)]));
    const more = dict === undefined ? null : this.evaluate(dict, scope);
    if (more !== null && !(more instanceof Dict))
      throw new TemplateError(`argument after ** must be a mapping, not ${typeName(more)}`);
    for (const [name, each] of more?.entries() ?? []) {
      const text = textIn(name);
      if (text === undefined || names.has(text))
        throw new TemplateError('keywords must be strings, each given once');
      names.set(text, each);
    }
    return { positional: values, named: names };
  }

  filter(name: string, of: Value, args: Args): Value {
    const filter = filters.get(name);
    if (filter === undefined) throw new TemplateFlaw(`No filter named '${name}'.`);
    return filter(this, of, args);
  }

  test(name: string, of: Value, args: Args): boolean {
    const test = tests.get(name);
    if (test === undefined) throw new TemplateFlaw(`No test named '${name}'.`);
    return test(this, of, args);
  }

  call(callee: Value, args: Args): Value {
    if (callee instanceof Undefined) return callee.fail();
    if (!(callee instanceof Callable))
      throw new TemplateError(`'${typeName(callee)}' object is not callable`);
    return callee.call(args);
  }

  /** A function that no one defines is none that a request can give. */
  #call({ callee, args }: Call, scope: Scope): Value {
    const called = this.evaluate(callee, scope);
    if (called instanceof Undefined && called.isVariable) throw new TemplateFlaw(called.why);
    return this.call(called, this.arguments(args, scope));
  }

  #slice(node: Of<'slice'>, scope: Scope): Value {
    const value = this.evaluate(node.of, scope);
    const bound = (each: Expression | null): Value => (each === null ? null : this.evaluate(each, scope));
    const bounds = { start: bound(node.start), stop: bound(node.stop), step: bound(node.step) };
    if (value instanceof Undefined) return value.fail();
    return slice(value, bounds, this.meter) ?? new Undefined(`'${typeName(value)} object' has no slices`);
  }

  #compare({ first, rest }: Of<'compare'>, scope: Scope): Value {
    let left = this.evaluate(first, scope);
    for (const [operator, node] of rest) {
      const right = this.evaluate(node, scope);
      if (!this.#holds(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  #holds(operator: Comparison, left: Value, right: Value): boolean {
    switch (operator) {
      case '==':
        return isEqual(left, right, this.meter);
      case '!=':
        return !isEqual(left, right, this.meter);
      case 'in':
        return contains(right, left, this.meter);
      case 'not in':
        return !contains(right, left, this.meter);
      case '<':
        return compare(left, right, this.meter) < 0;
      case '<=':
        return compare(left, right, this.meter) <= 0;
      case '>':
        return compare(left, right, this.meter) > 0;
      case '>=':
        return compare(left, right, this.meter) >= 0;
    }
  }

  #concat(items: readonly Value[]): string {
    const texts = items.map((each) => pythonText(each, this.meter));
    for (const each of texts) this.meter.chars(each.length);
    return texts.join('');
  }
}
