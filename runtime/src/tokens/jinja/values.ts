// Values of a template as Python has them: integers and floats, lists and tuples, and what prints as markup are of
// different types. Values are immutable, as in the sandbox of the reference, except namespaces.

import { TemplateError, TemplateRefusal } from './errors.js';

/** A number is Python's int; what has a fraction is a Float. */
export type Value = null | boolean | number | string | readonly Value[] | Instance;

/** A value that is an object of one of the classes below. */
export abstract class Instance {
  /** As `type(value).__name__`. */
  abstract readonly typeName: string;

  /** An attribute; absent: there is none. */
  attribute?(name: string): Value | undefined;
}

export class Float extends Instance {
  readonly typeName = 'float';
  constructor(readonly value: number) {
    super();
  }
}

/** What a name, an attribute or an index that is not there gives. */
export class Undefined extends Instance {
  readonly typeName = 'Undefined';
  /**
   * @param why the sentence of an error about it
   * @param isVariable whether it is a name: a request can give it a value
   */
  constructor(
    readonly why: string,
    readonly isVariable = false,
  ) {
    super();
  }

  /** @throws TemplateError */
  fail(): never {
    throw this.isVariable ? new TemplateRefusal(this.why) : new TemplateError(this.why);
  }
}

/** Text that `safe` or `escape` gave: text that is added to it is escaped. */
export class Markup extends Instance {
  readonly typeName = 'Markup';
  constructor(readonly text: string) {
    super();
  }
}

export class Tuple extends Instance {
  readonly typeName = 'tuple';
  constructor(readonly items: readonly Value[]) {
    super();
  }
}

export class Range extends Instance {
  readonly typeName = 'range';
  readonly length: number;
  constructor(
    readonly start: number,
    readonly stop: number,
    readonly step: number,
  ) {
    super();
    this.length = Math.max(0, Math.ceil((stop - start) / step));
  }

  at(index: number): number {
    return this.start + index * this.step;
  }
}

/** A dict's keys, values or items. */
export class View extends Instance {
  constructor(
    readonly typeName: 'dict_keys' | 'dict_values' | 'dict_items',
    readonly items: readonly Value[],
  ) {
    super();
  }
}

/** What can be read once, such as what the filter `map` gives. */
export class OneShot extends Instance {
  readonly typeName = 'generator';
  readonly #rest: Iterator<Value, unknown>;
  constructor(items: Iterable<Value>) {
    super();
    this.#rest = items[Symbol.iterator]();
  }

  /** The next item; absent: it is used up. */
  next(): Value | undefined {
    const next = this.#rest.next();
    return next.done === true ? undefined : next.value;
  }

  rest(): Value[] {
    const items: Value[] = [];
    for (let item = this.next(); item !== undefined; item = this.next()) items.push(item);
    return items;
  }
}

export interface Args {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export class Callable extends Instance {
  readonly typeName: string = 'function';
  constructor(
    readonly name: string,
    readonly call: (args: Args) => Value,
  ) {
    super();
  }
}

export class Namespace extends Instance {
  readonly typeName = 'Namespace';
  constructor(readonly fields: Map<string, Value>) {
    super();
  }

  override attribute(name: string): Value | undefined {
    return this.fields.get(name);
  }
}

type Key = string | number | null | typeof undefinedKey;
const undefinedKey = Symbol('undefined');

/** Keys are equal as Python has them: 1, 1.0 and True are one key. */
export class Dict extends Instance {
  readonly typeName = 'dict';
  readonly #entries = new Map<Key, readonly [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]>) {
    super();
    for (const [key, value] of entries) {
      const hash = hashOf(key);
      this.#entries.set(hash, [present(this.#entries.get(hash)?.[0], () => key), value]);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(typeof key === 'string' ? key : hashOf(key))?.[1];
  }

  entries(): IterableIterator<readonly [Value, Value]> {
    return this.#entries.values();
  }

  keys(): Value[] {
    return Array.from(this.entries(), ([key]) => key);
  }
}

/** @throws TemplateError for what has no hash, and for tuples, which no template has as keys */
export function hashOf(key: Value): Key {
  if (typeof key === 'string' || key === null) return key;
  if (typeof key === 'number' || typeof key === 'boolean') return Number(key);
  if (key instanceof Float) return key.value;
  if (key instanceof Markup) return key.text;
  if (key instanceof Undefined) return undefinedKey;
  throw new TemplateError(`unhashable type: '${typeName(key)}'`);
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Instance) return value.typeName;
  return { string: 'str', number: 'int', boolean: 'bool' }[typeof value as 'string' | 'number' | 'boolean'];
}

/** The value, or another where it is absent: `??` would take None for absent too. */
export function present(value: Value | undefined, otherwise: () => Value): Value {
  return value === undefined ? otherwise() : value;
}

/** The text of a string; absent: it is none. */
export function textIn(value: Value | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof Markup ? value.text : undefined;
}

/** A number, true and false included; absent: it is none. */
export function numberIn(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof Float ? value.value : undefined;
}

export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (typeof value === 'object') {
    if (value instanceof Float) return value.value !== 0;
    if (value instanceof Markup) return value.text !== '';
    if (value instanceof Dict) return value.size > 0;
    if (value instanceof Range) return value.length > 0;
    if (value instanceof Tuple || value instanceof View) return value.items.length > 0;
    return Array.isArray(value) ? value.length > 0 : true;
  }
  return Boolean(value);
}

/** JSON data as values. */
export function fromData(data: unknown): Value {
  if (typeof data === 'number') return Number.isInteger(data) ? data : new Float(data);
  if (typeof data === 'string' || typeof data === 'boolean') return data;
  if (Array.isArray(data)) return data.map(fromData);
  if (typeof data !== 'object' || data === null) return null;
  return new Dict(
    Object.entries(data)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, fromData(value)]),
  );
}
