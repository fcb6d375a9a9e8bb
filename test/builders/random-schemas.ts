// Random JSON schemas of every kind that can be enforced, small enough for random texts to come to their end.

/** A number below `count`. */
type Choose = (count: number) => number;
type Schema = Readonly<Record<string, unknown>>;

const formats = 'date time date-time duration ipv4 ipv6 uuid hostname email'.split(' ');
const words = ['name', 'size', 'Ünï', 'a b', 'quote"d', '名', '_', 'x.y', 'back\\slash', 'emoji 🚀'];
const literals: readonly unknown[] = ['red', 'naïve "x"', '', 0, -7, 2.5, true, null, [1, 'a'], { k: [] }];

/** One of them; the kind turns with `index`, so that every kind is there equally often. */
export function randomSchema(index: number, choose: Choose): Schema {
  const make = kinds[index % kinds.length]!;
  return make(choose, 3);
}

type Make = (choose: Choose, depth: number) => Schema;

const bounds = (choose: Choose, low: string, high: string, most: number): Schema => {
  const from = choose(most);
  const both = { [low]: from, [high]: from + choose(most - from + 1) };
  return choose(3) === 0 ? { [high]: both[high] } : both;
};

const text: Make = (choose) => ({ type: 'string', ...bounds(choose, 'minLength', 'maxLength', 12) });
const formatted: Make = (choose) => ({ type: 'string', format: formats[choose(formats.length)] });
const patterned: Make = (choose) => ({ type: 'string', pattern: `^(${randomPattern(choose, 1)})$` });

const atoms = ['a', 'b-', '[a-c]', '[^a-z\\s]', '\\d', '\\.', '\\w', 'é'];
const quantifiers = ['', '', '', '?', '*', '+', '{2}', '{1,3}', '{0,2}', '??'];

/** A regular expression: every quantifier on every kind of thing. */
function randomPattern(choose: Choose, depth: number): string {
  const term = (): string => {
    const isGroup = depth > 0 && choose(2) === 0;
    const atom = isGroup ? `(${choose(3) === 0 ? '?:' : ''}${either()})` : atoms[choose(atoms.length)]!;
    return atom + quantifiers[choose(quantifiers.length)]!;
  };
  const sequence = (): string => Array.from({ length: 1 + choose(3) }, term).join('');
  const either = (): string =>
    Array.from({ length: 1 + choose(2) }, () => randomPattern(choose, depth - 1)).join('|');
  return sequence();
}

const integer: Make = (choose) => {
  const least = choose(2000) - 1000;
  const most = least + choose(3000);
  return [
    { type: 'integer', minimum: least, maximum: most },
    { type: 'integer', exclusiveMinimum: least, exclusiveMaximum: most + 2 },
    { type: 'integer', minimum: least },
    { type: 'integer', maximum: most },
    { type: 'integer' },
  ][choose(5)]!;
};

const number: Make = (choose) => {
  const least = (choose(2000) - 1000) / 8;
  return [
    { type: 'number', minimum: least, maximum: least + choose(500) / 4 },
    { type: 'number', minimum: least },
    { type: 'number', maximum: least },
    { type: 'number' },
  ][choose(4)]!;
};

const single: Make = (choose) =>
  [{ type: 'boolean' }, { type: 'null' }, { const: literals[choose(literals.length)] }][choose(3)]!;

const several: Make = (choose) => ({
  enum: [...new Set(Array.from({ length: 1 + choose(4) }, () => literals[choose(literals.length)]))],
});

const list: Make = (choose, depth) => ({
  type: 'array',
  items: inner(choose, depth - 1),
  ...bounds(choose, 'minItems', 'maxItems', 4),
});

const tuple: Make = (choose, depth) => {
  const prefixItems = Array.from({ length: 1 + choose(3) }, () => inner(choose, depth - 1));
  return { type: 'array', prefixItems, items: false, minItems: prefixItems.length };
};

function namesOf(choose: Choose): string[] {
  const start = choose(words.length);
  return Array.from({ length: 1 + choose(4) }, (_, i) => words[(start + i) % words.length]!);
}

const closed: Make = (choose, depth) => {
  const names = namesOf(choose);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, inner(choose, depth - 1)])),
    required: names.filter(() => choose(3) > 0),
    additionalProperties: false,
  };
};

const map: Make = (choose, depth) => ({
  type: 'object',
  additionalProperties: inner(choose, depth - 1),
  propertyNames: { type: 'string', pattern: '^[a-z]{1,3}$' },
  ...bounds(choose, 'minProperties', 'maxProperties', 3),
});

/** Of different types, so that oneOf and anyOf mean the same. */
const either: Make = (choose, depth) => ({
  [choose(2) === 0 ? 'anyOf' : 'oneOf']: [text, list, closed, integer]
    .slice(choose(3))
    .map((make) => make(choose, depth - 1)),
});

const severalTypes: Make = (choose) => ({ type: ['integer', 'null', 'boolean'].slice(choose(2)) });

const referring: Make = (choose, depth) => ({
  type: 'object',
  properties: { one: { $ref: '#/$defs/thing' }, two: { $ref: '#/$defs/thing' } },
  required: ['one'],
  additionalProperties: false,
  $defs: { thing: inner(choose, depth - 1) },
});

/** A tree whose nodes may have one child. */
const recursive: Make = (choose) => ({
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: {
        value: integer(choose, 0),
        next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      },
      required: ['value', 'next'],
      additionalProperties: false,
    },
  },
});

const merged: Make = (choose, depth) => ({ allOf: [closed(choose, depth)] });

const flat = [text, formatted, patterned, integer, number, single, several, severalTypes];
const kinds = [...flat, list, tuple, closed, closed, map, either, referring, recursive, merged];

function inner(choose: Choose, depth: number): Schema {
  const nested = depth > 0 ? [...flat, list, tuple, closed, either] : flat;
  return nested[choose(nested.length)]!(choose, depth);
}
