// Runs parsed templates as transformers does, by whose prompts models were trained. The library differs where values
// become text: it prints true and nothing where Python prints True and None, and strips all space whatever strip() is
// asked to strip. And '' equals false for it, while no list equals another.

import { Environment as JinjaEnvironment, Interpreter as JinjaInterpreter } from '@huggingface/jinja';
import { pythonEquals } from './python-equality.js';
import { pythonText, type Value } from './python-text.js';
import { strftime } from './strftime.js';

// The package's declarations name their files without extension, which Node's rules of resolution do not find.
export interface Environment {
  set(name: string, value: unknown): Value;
  resolve(name: string): Environment;
}
/** Of a parsed template; further fields by its type. */
export interface Node {
  readonly type: string;
  readonly value?: unknown;
}
export interface BinaryExpression extends Node {
  readonly operator: { readonly value: string };
  readonly left: Node;
  readonly right: Node;
}
export interface KeywordArgument extends Node {
  readonly key: Node;
}
export interface CallExpression extends Node {
  readonly callee: Node & { readonly object?: Node; readonly property?: Node; readonly computed?: boolean };
  readonly args: readonly Node[];
}
interface Interpreter {
  evaluate(node: Node | undefined, environment: Environment): Value;
  evaluateBlock(nodes: readonly Node[], environment: Environment): Value;
  applyFilter(operand: Value, filter: Node, environment: Environment): Value;
  run(program: unknown): Value;
}
const Environment = JinjaEnvironment as unknown as new () => Environment;
const Interpreter = JinjaInterpreter as unknown as new (environment: Environment) => Interpreter;
/** The package does not export its values. */
const StringValue = new Environment().set('text', '').constructor as new (text: string) => Value;
const BooleanValue = new Environment().set('flag', true).constructor as new (flag: boolean) => Value;

/**
 * The outermost scope. The library's own throws and catches an error, with its stack trace, for each name that is not
 * set, as in `enable_thinking is defined`; a scope that is said to have it gives undefined as well.
 */
class Globals extends Environment {
  override resolve(): Environment {
    return this;
  }
}

/** They print nothing. */
const silent = new Set(['Set', 'Macro', 'Comment']);

/** Whether the beginning is stripped, and the end. */
const strips: ReadonlyMap<unknown, readonly [boolean, boolean]> = new Map([
  ['strip', [true, true]],
  ['lstrip', [true, false]],
  ['rstrip', [false, true]],
]);

export class PythonInterpreter extends Interpreter {
  /** @param variables plain data */
  constructor(variables: Readonly<Record<string, unknown>>) {
    const scope = new Globals();
    for (const [name, value] of Object.entries({ ...globals, ...variables })) scope.set(name, value);
    super(scope);
  }

  /** @throws what the template throws */
  render(template: unknown): string {
    return String(this.run(template).value);
  }

  override evaluate(node: Node | undefined, environment: Environment): Value {
    const value =
      node?.type === 'BinaryExpression'
        ? this.#combine(node as BinaryExpression, environment)
        : node?.type === 'CallExpression'
          ? this.#strip(node as CallExpression, environment)
          : null;
    return value ?? super.evaluate(node, environment);
  }

  override evaluateBlock(nodes: readonly Node[], environment: Environment): Value {
    let text = '';
    for (const node of nodes) {
      const value = this.evaluate(node, environment);
      if (!silent.has(node.type)) text += this.textOf(value);
    }
    return new StringValue(text);
  }

  override applyFilter(operand: Value, filter: Node, environment: Environment): Value {
    const isString = filter.type === 'Identifier' && filter.value === 'string';
    return isString ? new StringValue(this.textOf(operand)) : super.applyFilter(operand, filter, environment);
  }

  protected textOf(value: Value): string {
    return pythonText(value);
  }

  protected equals(left: Value, right: Value): boolean {
    return pythonEquals(left, right);
  }

  /** Null: the operator is another. */
  #combine({ operator, left, right }: BinaryExpression, environment: Environment): Value | null {
    const value = (each: Node): Value => this.evaluate(each, environment);
    switch (operator.value) {
      case '~':
        return new StringValue(this.textOf(value(left)) + this.textOf(value(right)));
      case '==':
        return new BooleanValue(this.equals(value(left), value(right)));
      case '!=':
        return new BooleanValue(!this.equals(value(left), value(right)));
      default:
        return null;
    }
  }

  /** A call of a string's method that says what to strip; null: the node is another. */
  #strip({ callee, args: [argument] }: CallExpression, environment: Environment): Value | null {
    const sides = callee.computed === false ? strips.get(callee.property?.value) : undefined;
    if (sides === undefined || argument === undefined) return null;
    const [text, characters] = [callee.object, argument].map((each) => this.evaluate(each, environment));
    if (text?.type !== 'StringValue' || characters?.type !== 'StringValue') return null;
    return new StringValue(strip(text.value as string, new Set(characters.value as string), sides));
  }
}

function strip(
  text: string,
  characters: ReadonlySet<string>,
  [start, end]: readonly [boolean, boolean],
): string {
  const all = Array.from(text);
  const isKept = (each: string): boolean => !characters.has(each);
  const first = start ? all.findIndex(isKept) : 0;
  return first === -1 ? '' : all.slice(first, end ? all.findLastIndex(isKept) + 1 : undefined).join('');
}

const globals = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  range: (first: number, end?: number, step = 1) => {
    if (step === 0) throw new Error('range() arg 3 must not be zero');
    const [from, to] = end === undefined ? [0, first] : [first, end];
    return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, i) => from + i * step);
  },
  strftime_now: (format: string) => strftime(format, new Date()),
};
