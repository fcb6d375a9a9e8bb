// What a parameter that was written as bare text is in JSON, by the tool's schema.

import type { Schema } from './tool.js';

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

export interface ParameterType {
  /** Whether any text is a value, as it stands: it can be passed on while it comes. */
  readonly isText: boolean;
  /** JSON of a whole value: of the schema's type if it can be read as one, else a string. */
  toJson(text: string): string;
}

/** Keywords beside which the space around a string would count. */
const narrowing = ['enum', 'const', 'pattern', 'format', 'minLength', 'maxLength'];

/** How Python writes them, and so the templates from which models learnt. */
const pythonSpelling: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

export function parameterType(parameters: Schema | null, name: string): ParameterType {
  const schema = resolved(propertyOf(parameters, name), parameters);
  const types = typesOf(schema, parameters);
  const isNarrow = narrowing.some((keyword) => schema?.[keyword] !== undefined);
  const onlyText = types.size === 1 && types.has('string');
  return {
    isText: onlyText && !isNarrow,
    toJson(text) {
      const trimmed = text.trim();
      if (onlyText) return JSON.stringify(isNarrow ? trimmed : text);
      const spelled = pythonSpelling[trimmed] ?? trimmed;
      const type = jsonTypeOf(spelled);
      const fits = type !== null && (types.has(type) || (type === 'integer' && types.has('number')));
      // As it was written: numbers keep all their digits.
      return fits && type !== 'string' ? spelled : JSON.stringify(types.has('string') ? text : trimmed);
    },
  };
}

/** What the schema of a tool's arguments says of one of them; null: nothing. */
export function propertyOf(parameters: Schema | null, name: string): Schema | null {
  const properties = asSchema(parameters?.['properties']);
  return properties !== null && Object.hasOwn(properties, name) ? asSchema(properties[name]) : null;
}

function asSchema(value: unknown): Schema | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null;
}

/** Follows references into the tool's own schema. */
function resolved(schema: Schema | null, root: Schema | null): Schema | null {
  let current = schema;
  for (let hops = 0; hops < 8; hops++) {
    const reference = current?.['$ref'];
    if (typeof reference !== 'string' || !reference.startsWith('#')) return current;
    const path = reference.slice(1).split('/').slice(1);
    current = path.reduce<Schema | null>((at, part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      return at !== null && Object.hasOwn(at, key) ? asSchema(at[key]) : null;
    }, root);
  }
  return current;
}

/** A string where the schema does not say. */
function typesOf(schema: Schema | null, root: Schema | null): ReadonlySet<JsonType> {
  const types = new Set<JsonType>();
  // Grows while it is walked: each schema is read once, however many branches refer to it.
  const schemas = new Set([schema]);
  for (const each of schemas) {
    if (each === null) continue;
    const own = ownTypes(each);
    if (own === null) for (const branch of branchesOf(each)) schemas.add(resolved(asSchema(branch), root));
    else for (const type of own) types.add(type);
  }
  return types.size === 0 ? new Set(['string']) : types;
}

/** Null: the schema itself does not say. */
function ownTypes(schema: Schema): readonly JsonType[] | null {
  const type = schema['type'];
  if (typeof type === 'string') return [type as JsonType];
  if (Array.isArray(type)) return type as JsonType[];
  if (Array.isArray(schema['enum'])) return schema['enum'].flatMap((each) => valueType(each) ?? []);
  return 'const' in schema ? [valueType(schema['const']) ?? 'string'] : null;
}

function branchesOf(schema: Schema): readonly unknown[] {
  return (
    ['anyOf', 'oneOf', 'allOf']
      .map((keyword) => schema[keyword])
      .find((branches): branches is unknown[] => Array.isArray(branches)) ?? []
  );
}

function jsonTypeOf(text: string): JsonType | null {
  try {
    return valueType(JSON.parse(text));
  } catch {
    return null;
  }
}

function valueType(value: unknown): JsonType | null {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'object':
      return typeof value as JsonType;
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    default:
      return null;
  }
}
