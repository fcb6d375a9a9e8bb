// Runs a template as long as its work is little and stays so: steps are counted with what they take and produce, and what
// could make much out of little within one step is given up before it begins. So neither time nor memory of the server
// depends on what a template is.

import {
  PythonInterpreter,
  type BinaryExpression,
  type CallExpression,
  type Environment,
  type KeywordArgument,
  type Node,
} from './python-jinja.js';
import type { Value } from './python-text.js';

/** About three milliseconds; a chat of ten messages takes a tenth of the steps. */
const maxSteps = 8000;
/** What counts as one step. */
const charsPerStep = 64;
const elementsPerStep = 8;
/** Of a literal that a filter puts between or before parts of a text, or a name that it looks for in each part. */
const maxArgument = 32;

/** Of lists and dicts within each other. */
const maxDepth = 200;

/** More work than is done on the spot, or work that nobody can estimate beforehand. */
export class TooMuchWork extends Error {}

/** Of words with spaces between them. */
function named(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

/** Filters and methods whose result is no longer than a small multiple of what they read. */
const shallow = named(
  'list first last length count items keys values get default d safe abs int float bool reverse unique',
  'selectattr rejectattr map startswith endswith split',
);
/** The same of those that read all that a value holds. */
const deep = named(
  'string sort dictsort tojson upper lower title capitalize trim strip lstrip rstrip join indent',
  'replace',
);
/** What they do with each part depends on their arguments, which have to stand in the template. */
const repeats = new Set(['tojson', 'join', 'indent', 'replace', 'map', 'sort', 'dictsort']);
/** Arguments of these names are taken for true or false, whatever they are. */
const flags = new Set<unknown>(['ensure_ascii', 'sort_keys']);
/** Operators that read parts of what is on their right, or make text of it. */
const combining = new Set(['+', 'in', 'not in']);

export class MeteredInterpreter extends PythonInterpreter {
  #left = maxSteps;
  /** Callees whose calls have been checked. */
  readonly #methods = new WeakSet<Node>();

  override evaluate(node: Node | undefined, environment: Environment): Value {
    if (node instanceof Evaluated) return node.of;
    this.#spend(1);
    if (node?.type === 'CallExpression') this.#requireCall(node as CallExpression);
    const value =
      node?.type === 'BinaryExpression' && combining.has((node as BinaryExpression).operator.value)
        ? this.#combineMetered(node as BinaryExpression, environment)
        : super.evaluate(node, environment);
    // Under another name a method could be called with anything.
    if (value.type === 'FunctionValue' && node?.type === 'MemberExpression' && !this.#methods.has(node))
      throw new TooMuchWork();
    const { value: made } = value;
    if (typeof made === 'string') this.#spend(made.length / charsPerStep);
    else if (Array.isArray(made)) this.#spend(made.length / elementsPerStep);
    return value;
  }

  override applyFilter(operand: Value, filter: Node, environment: Environment): Value {
    const call = filter.type === 'CallExpression' ? (filter as CallExpression) : null;
    this.#requireBounded((call?.callee ?? filter).value, call?.args ?? []);
    if (deep.has(String((call?.callee ?? filter).value))) this.#spendAll(operand);
    return super.applyFilter(operand, filter, environment);
  }

  protected override textOf(value: Value): string {
    this.#spendAll(value);
    return super.textOf(value);
  }

  protected override equals(left: Value, right: Value): boolean {
    this.#spendAll(left);
    return super.equals(left, right);
  }

  /** A method's, or a macro's by its name: what a macro does is counted as it does it. */
  #requireCall({ callee, args }: CallExpression): void {
    if (callee.type !== 'MemberExpression') return;
    if (callee.computed !== false) throw new TooMuchWork();
    this.#requireBounded(callee.property?.value, args);
    this.#methods.add(callee);
  }

  #requireBounded(name: unknown, args: readonly Node[]): void {
    const isKnown = shallow.has(String(name)) || deep.has(String(name));
    if (!isKnown || (repeats.has(String(name)) && !args.every(isShortLiteral))) throw new TooMuchWork();
  }

  #combineMetered(node: BinaryExpression, environment: Environment): Value {
    const [left, right] = [node.left, node.right].map((each) => this.evaluate(each, environment)) as [
      Value,
      Value,
    ];
    const isText = ({ type }: Value): boolean => type === 'StringValue';
    const holds = ({ value }: Value): boolean => typeof value === 'object' && value !== null;
    if (node.operator.value !== '+') {
      // Each element is compared.
      if (isText(left) && Array.isArray(right.value))
        this.#spend((right.value.length * (left.value as string).length) / charsPerStep);
    } else if ((isText(left) && holds(right)) || (holds(left) && isText(right))) {
      // The library makes text of all that is in it.
      throw new TooMuchWork();
    }
    return super.evaluate(
      { ...node, left: new Evaluated(left), right: new Evaluated(right) } as Node,
      environment,
    );
  }

  /** For a walk over all of a value. */
  #spendAll({ value }: Value, depth = 0): void {
    if (depth > maxDepth) throw new TooMuchWork();
    this.#spend(typeof value === 'string' ? value.length / charsPerStep : 1);
    if (typeof value !== 'object' || value === null) return;
    const parts = value instanceof Map ? value.values() : (value as Iterable<Value>);
    for (const part of parts as Iterable<Value>) this.#spendAll(part, depth + 1);
  }

  #spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork();
  }
}

/** A node whose value is known. */
class Evaluated implements Node {
  readonly type = 'Evaluated';
  constructor(readonly of: Value) {}
}

function isShortLiteral(node: Node): boolean {
  const { type, value } = node;
  switch (type) {
    case 'KeywordArgumentExpression':
      return flags.has((node as KeywordArgument).key.value) || isShortLiteral(value as Node);
    case 'StringLiteral':
      return (value as string).length <= maxArgument;
    case 'IntegerLiteral':
      return (value as number) <= maxArgument;
    case 'TupleLiteral':
    case 'ArrayLiteral':
      return (value as readonly Node[]).every(isShortLiteral);
    default:
      return false;
  }
}
