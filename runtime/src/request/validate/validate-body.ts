// A request body against its schema in the OpenAPI document: gives the fields that were set, or a 400 that lists every
// violation.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ApiError } from '../body/api-error.js';
import type { JsonSchema, RouteKind } from '../body/field-table.js';
import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { bodyKinds, bodySchemas, honouredOn, isKnown, refusalOf } from './body-schemas.js';
import type { BodyOf } from './request-fields.js';
import { unescaped, withoutNulls } from './without-nulls.js';

/** Several times what any route has. */
const maxFields = 500;
/** In a body of more, which may have an error for each of them, the first violation alone is reported. */
const maxValues = 30_000;

// Four fifths of a compilation are ajv's tidying of the code that it writes: at each start half a second of a processor.
const code = { optimize: false } as const;

// What has none of its alternatives is reported as one violation. So each alternative ends at its first mismatch: a prompt
// of 100,000 ids is not held against `string` id by id, with an error for each.
const first = new Ajv({ allowUnionTypes: true, code });
const anyOf = {
  keyword: 'anyOf',
  schemaType: 'array',
  compile(alternatives: object[]): (value: unknown) => boolean {
    const validators = alternatives.map((schema) => first.compile(schema));
    return (value) => validators.some((validate) => validate(value));
  },
} as const;
// Without the schema of schemas, whose own anyOf refers to what this one does not know; the tests of the document hold
// our schemas to it.
const ajv = (allErrors: boolean): Ajv =>
  new Ajv({
    allErrors,
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    verbose: true, // errors have the schema and the value
    code,
  })
    .removeKeyword('anyOf')
    .addKeyword(anyOf);

const toFirst = ajv(false);
const throughout = ajv(true);
const validators = Object.fromEntries(
  bodyKinds.map((kind) => [kind, toFirst.compile(bodySchemas[kind])]),
) as Readonly<Record<RouteKind, ValidateFunction>>;

/** @throws ApiError invalid_request */
export function validateBody<Kind extends RouteKind>(kind: Kind, body: unknown): BodyOf<Kind> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw ApiError.of(
      'invalid_request',
      'the body must be a JSON object, sent with content-type: application/json',
    );
  }
  const count = Object.keys(body).length;
  if (count > maxFields) {
    const message = `the body has ${String(count)} fields, and no route knows as many as ${String(maxFields)}`;
    throw ApiError.of('invalid_request', message);
  }
  // null is absent, on fields that the route does not know too: it asks for nothing.
  const set: object = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const found = errorsIn(kind, set);
  const rest = found.length === 0 ? null : withoutNulls(set, found);
  const errors = rest === null ? found : errorsIn(kind, rest);
  if (errors.length > 0) throw invalidRequest(errors.map((error) => violation(kind, error)));
  const honoured = Object.entries(rest ?? set).filter(([name]) => Object.hasOwn(honouredOn[kind], name));
  return Object.fromEntries(honoured) as BodyOf<Kind>;
}

function errorsIn(kind: RouteKind, fields: object): ErrorObject[] {
  let validate = validators[kind];
  if (validate(fields)) return [];
  if (hasFewValues(fields)) {
    // Compiled for the first body that needs it, and kept.
    validate = throughout.compile(bodySchemas[kind]);
    validate(fields);
  }
  // What an `if` asks for complains for itself, and `propertyNames` for the rule that a name breaks.
  return (validate.errors ?? []).filter(
    ({ keyword, propertyName }) =>
      keyword !== 'if' && (keyword === 'propertyNames' || propertyName === undefined),
  );
}

function hasFewValues(body: object): boolean {
  let values = 0;
  let level: object[] = [body];
  while (level.length > 0) {
    values += level.reduce((sum, each) => sum + sizeOf(each), 0);
    if (values > maxValues) return false;
    level = level
      .flatMap((each) => Object.values(each) as unknown[])
      .filter((each): each is object => typeof each === 'object' && each !== null);
  }
  return true;
}

/** The names of a million values are collected sooner than the values. */
const sizeOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

function violation(
  kind: RouteKind,
  { instancePath, keyword, params, parentSchema, data, message = 'is not valid' }: ErrorObject,
): Violation {
  const names = instancePath.split('/').slice(1).map(unescaped);
  const path = names.join('.');
  const [field = ''] = names;
  if (names.length > 0 && !isKnown(kind, field))
    return violationAt(path, 'is not a known field of this route');
  const refusal = refusalOf(kind, field);
  if (refusal !== null) return violationAt(field, notSupported(refusal));
  if (keyword === 'anyOf') return violationAt(path, none(parentSchema as Alternatives, data));
  const instead = (parentSchema as JsonSchema)['description'];
  if (typeof instead === 'string') return violationAt(path, notSupported(instead));
  const child = (name: unknown): string => (path === '' ? String(name) : `${path}.${String(name)}`);
  switch (keyword) {
    case 'required':
      return violationAt(child(params['missingProperty']), 'is required');
    case 'additionalProperties':
      return violationAt(child(params['additionalProperty']), 'is not a known field of this route');
    case 'propertyNames': {
      const { description } = (parentSchema as NamedMembers).propertyNames;
      return violationAt(
        path,
        `has the key ${JSON.stringify(params['propertyName'])}; its keys are ${description}`,
      );
    }
    case 'enum':
      return violationAt(path, `must be ${oneOf(notNull(params['allowedValues']))}`);
    case 'const':
      return violationAt(path, `must be ${JSON.stringify(params['allowedValue'])}`);
    case 'type':
      return violationAt(path, `must be ${notNull(params['type']).join(' or ')}`);
    default:
      return violationAt(path, message);
  }
}

interface NamedMembers {
  /** What the names are. */
  readonly propertyNames: { readonly description: string };
}

interface Alternatives {
  /** Lists among them have one bound. */
  readonly anyOf: readonly { readonly maxItems?: number }[];
  /** What the value may be. */
  readonly description: string;
}

function none({ anyOf, description }: Alternatives, value: unknown): string {
  const most = Math.max(...anyOf.map(({ maxItems = 0 }) => maxItems));
  if (most > 0 && Array.isArray(value) && value.length > most && typeof value[0] !== 'number')
    return `must have at most ${String(most)} entries`;
  return `must be ${description}`;
}

/** As JSON has them: `true` is not "true". */
function oneOf(values: readonly unknown[]): string {
  const written = values.map((value) => JSON.stringify(value)).join(', ');
  return values.length === 1 ? written : `one of ${written}`;
}

const notSupported = (why: string): string =>
  `is not supported with this value${why === '' ? '' : `: ${why}`}`;

/** null counts as absent everywhere: to offer it would not help. */
const notNull = (values: unknown): unknown[] =>
  [values].flat().filter((each) => each !== null && each !== 'null');
