// Functions that every template has: Jinja's own, and those that transformers adds.

import { strftime } from '../strftime.js';
import { bind, integer, string } from './arguments.js';
import { TemplateError, TemplateRefusal } from './errors.js';
import type { Meter } from './meter.js';
import { pythonText } from './python-text.js';
import { itemsOf } from './sequences.js';
import { Callable, Dict, Instance, Namespace, Range, type Args, type Value } from './values.js';

/** As the sandbox bounds it. */
const maxRange = 100_000;

class Cycler extends Instance {
  readonly typeName = 'Cycler';
  #at = 0;
  constructor(private readonly items: readonly Value[]) {
    super();
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'current':
        return this.#current;
      case 'next':
        return new Callable('next', () => {
          const value = this.#current;
          this.#at = (this.#at + 1) % this.items.length;
          return value;
        });
      case 'reset':
        return new Callable('reset', () => {
          this.#at = 0;
          return null;
        });
      default:
        return undefined;
    }
  }

  get #current(): Value {
    return this.items[this.#at] ?? null;
  }
}

function cycler({ positional }: Args): Value {
  if (positional.length === 0) throw new TemplateError('at least one item has to be provided');
  return new Cycler(positional);
}

function range(args: Args): Value {
  const [first = null, end = null, by = 1] = bind('range', args, ['start', 'stop', 'step'], 1);
  const [start, stop] = end === null ? [0, integer(first)] : [integer(first), integer(end)];
  const step = integer(by);
  if (step === 0) throw new TemplateError('range() arg 3 must not be zero');
  const made = new Range(start, stop, step);
  if (made.length > maxRange)
    throw new TemplateError(
      `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${String(maxRange)}).`,
    );
  return made;
}

export function globals(meter: Meter): Readonly<Record<string, Value>> {
  const dict = ({ positional, named }: Args): Dict => {
    const [of = new Dict([])] = bind('dict', { positional, named: new Map() }, ['iterable']);
    const entries =
      of instanceof Dict ? Array.from(of.entries()) : itemsOf(of, meter).map((each) => pairOf(each, meter));
    return new Dict([...entries, ...named]);
  };
  const namespace = (args: Args): Namespace => {
    const fields = Array.from(dict(args).entries(), ([name, value]) => [string(name), value] as const);
    for (const [name] of fields) requireField(name);
    return new Namespace(new Map(fields));
  };
  const functions: Readonly<Record<string, (args: Args) => Value>> = {
    ...{ dict, namespace, cycler, range },
    raise_exception: (args) => {
      throw new TemplateRefusal(pythonText(bind('raise_exception', args, ['message'], 1)[0] ?? null, meter));
    },
    strftime_now: (args) => {
      const format = string(bind('strftime_now', args, ['format'], 1)[0] ?? null);
      meter.elements(format.length);
      return strftime(format, new Date());
    },
  };
  return Object.fromEntries(
    Object.entries(functions).map(([name, call]) => [name, new Callable(name, call)]),
  );
}

/** @throws TemplateError for a name that a namespace may not have */
export function requireField(name: string): void {
  if (name.startsWith('_'))
    throw new TemplateError(
      `Chat templates cannot store underscore-prefixed attributes on a namespace: ${name}`,
    );
}

function pairOf(of: Value, meter: Meter): readonly [Value, Value] {
  const [key, value, ...more] = itemsOf(of, meter);
  if (key === undefined || value === undefined || more.length > 0)
    throw new TemplateError('dictionary update sequence element has another length than 2');
  return [key, value];
}
