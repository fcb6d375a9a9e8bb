// Runs a parsed template: writes its data and what it prints, and executes its statements. An engine of our own, because
// a prompt must be that of transformers to the character: of the packages for JavaScript, @huggingface/jinja has not
// Python's values (and exports none to be replaced), and minijinja-js sorts the keys of dicts.

import { TemplateError } from './errors.js';
import { Evaluator } from './evaluator.js';
import { globals, requireField } from './globals.js';
import { LoopContext } from './loop-context.js';
import type { Meter } from './meter.js';
import type { Body, Call, Expression, Loop, Macro, Statement, Target } from './nodes.js';
import { pythonText } from './python-text.js';
import { Scope } from './scope.js';
import { itemsOf } from './sequences.js';
import {
  Callable,
  Dict,
  Namespace,
  Tuple,
  Undefined,
  fromData,
  isTrue,
  present,
  type Args,
  type Value,
} from './values.js';

/** How a body ended: at its end, or at a statement that leaves the loop or its turn. */
type Ending = 'end' | 'break' | 'continue';

/**
 * @param variables plain data
 * @throws TemplateError what the template raises, or what Python raises; TooMuchWork
 */
export function renderTemplate(
  template: Body,
  variables: Readonly<Record<string, unknown>>,
  meter: Meter,
): string {
  const scope = new Scope();
  for (const [name, value] of Object.entries(globals(meter))) scope.set(name, value);
  for (const [name, data] of Object.entries(variables))
    if (data !== undefined) scope.set(name, fromData(data));
  return new Interpreter(meter).render(template, new Scope(scope));
}

class Interpreter {
  readonly #evaluator: Evaluator;

  constructor(private readonly meter: Meter) {
    this.#evaluator = new Evaluator(meter);
  }

  render(body: Body, scope: Scope): string {
    const out: string[] = [];
    this.#run(body, scope, out);
    return out.join('');
  }

  #run(body: Body, scope: Scope, out: string[]): Ending {
    for (const statement of body) {
      this.meter.spend();
      const ending = this.#execute(statement, scope, out);
      if (ending !== 'end') return ending;
    }
    return 'end';
  }

  #execute(node: Statement, scope: Scope, out: string[]): Ending {
    switch (node.kind) {
      case 'data':
        this.#write(node.text, out);
        return 'end';
      case 'print':
        this.#write(pythonText(this.#value(node.of, scope), this.meter), out);
        return 'end';
      case 'if':
        return this.#run(isTrue(this.#value(node.test, scope)) ? node.then : node.otherwise, scope, out);
      case 'for':
        this.#loop(node, scope, out);
        return 'end';
      case 'set':
        this.#assign(node.target, this.#value(node.value, scope), scope);
        return 'end';
      case 'set block':
        this.#assign(node.target, this.#filtered(node.filter, node.body, scope), scope);
        return 'end';
      case 'filter block':
        this.#write(pythonText(this.#filtered(node.filter, node.body, scope), this.meter), out);
        return 'end';
      case 'with': {
        const inner = new Scope(scope);
        for (const [target, value] of node.values) this.#assign(target, this.#value(value, scope), inner);
        return this.#run(node.body, inner, out);
      }
      case 'scope':
        return this.#run(node.body, new Scope(scope), out);
      case 'macro':
        scope.set(node.macro.name, this.#macro(node.macro, scope));
        return 'end';
      case 'call block':
        this.#write(pythonText(this.#callBlock(node.call, node.caller, scope), this.meter), out);
        return 'end';
      case 'break':
      case 'continue':
        return node.kind;
    }
  }

  #write(text: string, out: string[]): void {
    this.meter.chars(text.length);
    out.push(text);
  }

  #value(node: Expression, scope: Scope): Value {
    return this.#evaluator.evaluate(node, scope);
  }

  #filtered(filter: Expression | null, body: Body, scope: Scope): Value {
    const text = this.render(body, new Scope(scope));
    return filter === null ? text : this.#evaluator.filtered(filter, scope, text);
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    switch (target.kind) {
      case 'name':
        scope.set(target.name, value);
        return;
      case 'field': {
        const of = scope.get(target.of);
        if (!(of instanceof Namespace))
          throw new TemplateError('cannot assign attribute on non-namespace object');
        requireField(target.name);
        of.fields.set(target.name, value);
        return;
      }
      case 'targets': {
        const values = itemsOf(value, this.meter);
        if (values.length !== target.targets.length)
          throw new TemplateError(
            `cannot unpack ${String(values.length)} values into ${String(target.targets.length)} names`,
          );
        for (const [i, each] of target.targets.entries()) this.#assign(each, values[i] ?? null, scope);
      }
    }
  }

  #loop(node: Loop, scope: Scope, out: string[]): void {
    const items = this.#chosen(node, itemsOf(this.#value(node.items, scope), this.meter), scope);
    const context = new LoopContext(items);
    for (const [index, item] of items.entries()) {
      context.index = index;
      const inner = new Scope(scope);
      inner.set('loop', context);
      this.#assign(node.target, item, inner);
      if (this.#run(node.body, inner, out) === 'break') return;
    }
    if (items.length === 0) this.#run(node.otherwise, new Scope(scope), out);
  }

  #chosen({ condition, target }: Loop, items: readonly Value[], scope: Scope): readonly Value[] {
    if (condition === null) return items;
    return items.filter((item) => {
      const inner = new Scope(scope);
      this.#assign(target, item, inner);
      return isTrue(this.#value(condition, inner));
    });
  }

  #callBlock(node: Call, caller: Macro, scope: Scope): Value {
    const callee = this.#value(node.callee, scope);
    const { positional, named } = this.#evaluator.arguments(node.args, scope);
    const withCaller = new Map([...named, ['caller', this.#macro(caller, scope)]]);
    return this.#evaluator.call(callee, { positional, named: withCaller });
  }

  #macro(macro: Macro, scope: Scope): Callable {
    return new Callable(macro.name, (args) => this.render(macro.body, this.#bound(macro, args, scope)));
  }

  /** The scope of one call. */
  #bound({ name, parameters, reads }: Macro, { positional, named }: Args, outer: Scope): Scope {
    const scope = new Scope(outer);
    const rest = new Map(named);
    for (const [i, parameter] of parameters.entries()) {
      const given = i < positional.length ? positional[i] : rest.get(parameter.name);
      if (positional[i] !== undefined && rest.has(parameter.name))
        throw new TemplateError(`macro '${name}' got multiple values for argument '${parameter.name}'`);
      rest.delete(parameter.name);
      scope.set(
        parameter.name,
        present(given, () =>
          parameter.default === undefined
            ? new Undefined(`parameter '${parameter.name}' was not provided`)
            : this.#value(parameter.default, scope),
        ),
      );
    }
    if (reads.has('caller'))
      scope.set(
        'caller',
        present(rest.get('caller'), () => new Undefined('No caller defined')),
      );
    if (reads.has('caller')) rest.delete('caller');
    if (reads.has('kwargs')) scope.set('kwargs', new Dict(rest));
    else if (rest.size > 0)
      throw new TemplateError(
        `macro '${name}' takes no keyword argument '${Array.from(rest.keys()).join("', '")}'`,
      );
    if (reads.has('varargs')) scope.set('varargs', new Tuple(positional.slice(parameters.length)));
    else if (positional.length > parameters.length)
      throw new TemplateError(`macro '${name}' takes not more than ${String(parameters.length)} argument(s)`);
    return scope;
  }
}
