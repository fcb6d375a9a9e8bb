// What a parameter that was written as bare text is in JSON, by the tool's schema.

import { pythonLiteralToJson } from './python-literal.js';
import type { Schema } from './tool.js';

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

const jsonTypes: readonly JsonType[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** How schemas that were made of Python's functions name them. */
const pythonTypes: ReadonlyMap<unknown, JsonType> = new Map([
  ['str', 'string'],
  ['int', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['bool', 'boolean'],
  ['dict', 'object'],
  ['list', 'array'],
  ['tuple', 'array'],
]);

export interface ParameterType {
  /** Whether any text is a value, as it stands: it can be passed on while it comes. */
  readonly isText: boolean;
  /** JSON of a whole value: of the schema's type if it can be read as one, else a string. */
  toJson(text: string): string;
}

/** Keywords with which the space around a string would count. */
const exact = ['enum', 'const', 'pattern', 'format'];
const narrowing = [...exact, 'minLength', 'maxLength'];

export function parameterType(parameters: Schema | null, name: string): ParameterType {
  const property = propertyOf(parameters, name);
  const schemas = branchesThrough(property, parameters);
  // A property that does not say its type may be anything; what the tool does not have is a string.
  const types = property === null ? new Set<JsonType>(['string']) : typesOf(schemas);
  const isNarrow = schemas.some(narrowsText);
  const onlyText = types.size === 1 && types.has('string');
  return {
    isText: onlyText && !isNarrow,
    toJson(text) {
      const trimmed = text.trim();
      const own = schemas.some((schema) => refuses(schema, text)) ? trimmed : text;
      if (onlyText) return JSON.stringify(own);
      const value = (json: string | null): string | null =>
        json !== null && fits(jsonTypeOf(json), types) ? json : null;
      // As it was written: numbers keep all their digits. Templates from which models learnt write as Python does.
      const json = value(trimmed) ?? value(pythonLiteralToJson(trimmed));
      return json ?? JSON.stringify(types.has('string') ? own : trimmed);
    },
  };
}

/** Whether what was read as JSON is a value, and not a text that happens to be in quotes. */
function fits(type: JsonType | null, types: ReadonlySet<JsonType>): boolean {
  if (type === null || type === 'string') return false;
  return types.has(type) || (type === 'integer' && types.has('number'));
}

/** What the schema of a tool's arguments says of one of them; null: it does not have it. */
export function propertyOf(parameters: Schema | null, name: string): Schema | null {
  const properties = asSchema(parameters?.['properties']);
  if (properties === null || !Object.hasOwn(properties, name)) return null;
  return properties[name] === true ? {} : asSchema(properties[name]);
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

/** The schema, and each that it leaves the type to. */
function branchesThrough(schema: Schema | null, root: Schema | null): readonly Schema[] {
  // Grows while it is walked: each schema is read once, however many branches refer to it.
  const schemas = new Set([resolved(schema, root)]);
  for (const each of schemas) {
    if (each === null || ownTypes(each) !== null) continue;
    for (const branch of branchesOf(each)) schemas.add(resolved(asSchema(branch), root));
  }
  return [...schemas].filter((each) => each !== null);
}

/** Where the schemas do not say: a string if they bound one, else any. */
function typesOf(schemas: readonly Schema[]): ReadonlySet<JsonType> {
  const types = new Set(schemas.flatMap((each) => ownTypes(each) ?? []));
  if (types.size > 0) return types;
  return new Set(schemas.length === 0 || schemas.some(narrowsText) ? ['string'] : jsonTypes);
}

/** Whether not every text fits: the keywords of other types say nothing of texts. */
function narrowsText(schema: Schema): boolean {
  return mayBeText(schema) && narrowing.some((keyword) => schema[keyword] !== undefined);
}

/** Whether the text with the space around it is none of the schema's: a length may count that, a choice does not. */
function refuses(schema: Schema, text: string): boolean {
  const { minLength = 0, maxLength = Infinity } = schema as { minLength?: number; maxLength?: number };
  const length = Array.from(text).length;
  const isExact = exact.some((keyword) => schema[keyword] !== undefined);
  return mayBeText(schema) && (isExact || length < minLength || length > maxLength);
}

const mayBeText = (schema: Schema): boolean => ownTypes(schema)?.includes('string') ?? true;

/** Null: the schema itself does not say. */
function ownTypes(schema: Schema): readonly JsonType[] | null {
  const type = schema['type'];
  if (typeof type === 'string' || Array.isArray(type))
    return [type].flat().map((each) => pythonTypes.get(each) ?? (each as JsonType));
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
