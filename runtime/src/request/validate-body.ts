// A request body against its schema in the OpenAPI document: gives the fields that were set, or a 400 that lists every
// violation.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ApiError } from './api-error.js';
import { bodyKinds, bodySchemas, refusalOf } from './body-schemas.js';
import type { RouteKind } from './request-fields.js';

export type Fields = Readonly<Record<string, unknown>>;

/** One thing that is wrong, and the field that it is about. */
export interface Violation {
  readonly param: string;
  readonly message: string;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

const validators = Object.fromEntries(
  bodyKinds.map((kind) => [kind, ajv.compile(bodySchemas[kind])]),
) as Readonly<Record<RouteKind, ValidateFunction>>;

/** @throws ApiError invalid_request */
export function validateBody(kind: RouteKind, body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw ApiError.of(
      'invalid_request',
      'the body must be a JSON object, sent with content-type: application/json',
    );
  }
  const set = Object.entries(body).filter(([, value]) => value !== null);
  const validate = validators[kind];
  if (!validate(Object.fromEntries(set))) {
    throw invalidRequest(readable(validate.errors ?? []).map((error) => violation(kind, error)));
  }
  return Object.fromEntries(set.filter(([name]) => refusalOf(kind, name) === null));
}

/** One 400 for all that is wrong; `param` is the first. */
export function invalidRequest(violations: readonly Violation[]): ApiError {
  const message = [...new Set(violations.map((violation) => violation.message))].join('; ');
  return ApiError.of('invalid_request', message, { param: violations[0]?.param ?? null });
}

/** Alternatives of an anyOf each complain; their joint complaint is enough. */
function readable(errors: readonly ErrorObject[]): ErrorObject[] {
  const joint = new Set(
    errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath),
  );
  const insideJoint = ({ instancePath, keyword }: ErrorObject): boolean =>
    keyword !== 'anyOf' &&
    [...joint].some((path) => instancePath === path || instancePath.startsWith(`${path}/`));
  // What an `if` asks for complains for itself.
  return errors.filter((error) => error.keyword !== 'if' && !insideJoint(error));
}

function violation(
  kind: RouteKind,
  { instancePath, keyword, params, message = 'is not valid' }: ErrorObject,
): Violation {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const [field = ''] = path.split('.');
  const refusal = refusalOf(kind, field);
  if (refusal !== null)
    return told(field, `is not supported with this value${refusal === '' ? '' : `: ${refusal}`}`);
  const child = (name: unknown): string => (path === '' ? String(name) : `${path}.${String(name)}`);
  switch (keyword) {
    case 'required':
      return told(child(params['missingProperty']), 'is required');
    case 'additionalProperties':
      return told(child(params['additionalProperty']), 'is not a known field of this route');
    case 'enum':
      return told(path, `must be one of ${notNull(params['allowedValues']).join(', ')}`);
    case 'type':
      return told(path, `must be ${notNull(params['type']).join(' or ')}`);
    case 'anyOf':
      return told(
        path,
        path.endsWith('content')
          ? 'must be a string or a list of text parts'
          : 'has none of the types that it may have',
      );
    default:
      return told(path, message);
  }
}

const told = (param: string, message: string): Violation => ({ param, message: `${param} ${message}` });

/** null counts as absent everywhere: to offer it would not help. */
const notNull = (values: unknown): unknown[] =>
  [values].flat().filter((each) => each !== null && each !== 'null');
