// Objects that a schema describes, by a seed: each optional member is there or not, lists have up to three items.

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** @param density how likely an optional member is there, 0 to 1 */
export function randomObject(schema: Schema, random: () => number, density: number): unknown {
  if (schema.enum !== undefined) return schema.enum[Math.floor(random() * schema.enum.length)];
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'object':
      return Object.fromEntries(members(schema, random, density));
    case 'array':
      return Array.from({ length: Math.floor(random() * 4) }, () =>
        randomObject(schema.items ?? {}, random, density),
      );
    case 'boolean':
      return random() < 0.5;
    case 'integer':
    case 'number':
      return (schema.minimum ?? 0) + Math.floor(random() * 100);
    default:
      return `text-${Math.floor(random() * 1000)}`;
  }
}

function members(schema: Schema, random: () => number, density: number): [string, unknown][] {
  if (typeof schema.additionalProperties === 'object') {
    return [[`key-${Math.floor(random() * 10)}`, randomObject(schema.additionalProperties, random, density)]];
  }
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => schema.required?.includes(name) === true || random() < density)
    .map(([name, each]) => [name, randomObject(each, random, density)]);
}
