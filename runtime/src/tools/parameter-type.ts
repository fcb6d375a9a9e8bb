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
  const properties = asSchema(parameters?.['properties']);
  const own = properties !== null && Object.hasOwn(properties, name) ? asSchema(properties[name]) : null;
  const schema = resolved(own, parameters);
  const types = new Set(typesOf(schema, parameters, 0) ?? ['string']);
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

/** Null: the schema does not say. */
function typesOf(unresolved: Schema | null, root: Schema | null, depth: number): JsonType[] | null {
  const schema = resolved(unresolved, root);
  if (schema === null || depth > 8) return null;
  const type = schema['type'];
  if (typeof type === 'string') return [type as JsonType];
  if (Array.isArray(type)) return type as JsonType[];
  if (Array.isArray(schema['enum'])) return schema['enum'].flatMap((each) => valueType(each) ?? []);
  if ('const' in schema) return [valueType(schema['const']) ?? 'string'];
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const types = branches.flatMap((each) => typesOf(asSchema(each), root, depth + 1) ?? []);
    return types.length === 0 ? null : types;
  }
  return null;
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
