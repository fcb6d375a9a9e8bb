// The parameters of a URL's query against their schemas, which the OpenAPI document has too: typed values, or a 400 that
// lists every violation. What is not among them is refused.

import type { ValueOf } from '../../request/body/field-table.js';
import { invalidRequest, violationAt, type Violation } from '../../request/body/violation.js';

/** A whole number, a boolean, one of some texts, or a list of such. */
interface ParameterSchema {
  readonly type?: 'integer' | 'boolean' | 'string' | 'array';
  readonly items?: { readonly enum: readonly unknown[] };
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

export type QueryTable = Readonly<Record<string, ParameterSchema>>;

type QueryValues<Table extends QueryTable> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> };

/**
 * @param query as express parses it: a name that is there twice has a list
 * @throws ApiError invalid_request
 */
export function readQuery<Table extends QueryTable>(
  table: Table,
  query: Readonly<Record<string, unknown>>,
): QueryValues<Table> {
  const violations: Violation[] = [];
  const values = Object.entries(query).map(([given, text]): [string, unknown] => {
    const name = nameIn(table, given);
    const schema = Object.hasOwn(table, name) ? table[name] : undefined;
    if (schema === undefined) {
      violations.push(violationAt(name, 'is not a known parameter of this route'));
      return [name, undefined];
    }
    const value = valueOf(schema, text);
    if (value === undefined) violations.push(violationAt(name, `must be ${rangeOf(schema)}`));
    return [name, value];
  });
  if (violations.length > 0) throw invalidRequest(violations);
  return Object.fromEntries(values) as QueryValues<Table>;
}

/** OpenAI's clients write the entries of a list as `name[]=entry`. */
function nameIn(table: QueryTable, given: string): string {
  const name = given.replace(/\[\]$/, '');
  return Object.hasOwn(table, name) && table[name]?.type === 'array' ? name : given;
}

/** Undefined: it is none. */
function valueOf(schema: ParameterSchema, text: unknown): unknown {
  if (schema.type === 'array') {
    const entries: unknown[] = Array.isArray(text) ? text : [text];
    return entries.every((entry) => schema.items?.enum.includes(entry) === true) ? entries : undefined;
  }
  if (typeof text !== 'string') return undefined;
  const value = parsed(schema.type ?? 'string', text);
  const { enum: allowed, minimum = -Infinity, maximum = Infinity } = schema;
  if (allowed !== undefined && !allowed.includes(value)) return undefined;
  return typeof value === 'number' && (value < minimum || value > maximum) ? undefined : value;
}

function parsed(type: 'integer' | 'boolean' | 'string', text: string): unknown {
  switch (type) {
    case 'integer':
      return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'string':
      return text;
  }
}

function rangeOf({ type = 'string', items, enum: allowed, minimum, maximum }: ParameterSchema): string {
  if (items !== undefined) return `some of ${items.enum.map(String).join(', ')}`;
  if (allowed !== undefined) return allowed.map(String).join(' or ');
  if (type !== 'integer') return type === 'boolean' ? 'true or false' : 'a text';
  const bounds = [
    minimum === undefined ? '' : ` from ${String(minimum)}`,
    maximum === undefined ? '' : ` to ${String(maximum)}`,
  ];
  return `a whole number${bounds.join('')}`;
}
