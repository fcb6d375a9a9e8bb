// A request body against the table of fields: gives the fields that were set, or a 400 that lists every violation.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ApiError } from './api-error.js';
import {
  fieldsOfRoute,
  honouredFields,
  refusedFields,
  requiredFields,
  type RouteKind,
} from './request-fields.js';

export type Fields = Readonly<Record<string, unknown>>;

/** One thing that is wrong, and the field that it is about. */
export interface Violation {
  readonly param: string;
  readonly message: string;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

const validators: Readonly<Record<RouteKind, ValidateFunction>> = {
  chat: ajv.compile(schemaOf('chat')),
  completions: ajv.compile(schemaOf('completions')),
  predict: ajv.compile(schemaOf('predict')),
  embeddings: ajv.compile(schemaOf('embeddings')),
};

/** @throws ApiError invalid_request */
export function validateBody(kind: RouteKind, body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw ApiError.of(
      'invalid_request',
      'the body must be a JSON object, sent with content-type: application/json',
    );
  }
  const violations: Violation[] = [];
  const set = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => {
      if (value === null) return false;
      const asksForNothing = isHonoured(kind, name) ? undefined : refusedFields[name];
      if (asksForNothing === undefined) return true;
      if (!asksForNothing(value))
        violations.push({ param: name, message: `${name} is not supported with this value` });
      return false;
    }),
  );
  const validate = validators[kind];
  if (!validate(set)) violations.push(...readable(validate.errors ?? []));
  if (violations.length > 0) throw invalidRequest(violations);
  return set;
}

function isHonoured(kind: RouteKind, name: string): boolean {
  return honouredFields[name]?.routes.includes(kind) === true || Object.hasOwn(fieldsOfRoute[kind], name);
}

/** One 400 for all that is wrong; `param` is the first. */
export function invalidRequest(violations: readonly Violation[]): ApiError {
  const message = violations.map((violation) => violation.message).join('; ');
  return ApiError.of('invalid_request', message, { param: violations[0]?.param ?? null });
}

function schemaOf(kind: RouteKind): object {
  const shared = Object.entries(honouredFields)
    .filter(([, field]) => field.routes.includes(kind))
    .map(([name, field]) => [name, field.schema] as const);
  return {
    type: 'object',
    required: requiredFields[kind],
    additionalProperties: false,
    properties: { ...Object.fromEntries(shared), ...fieldsOfRoute[kind] },
  };
}

/** Alternatives of an anyOf each complain; their joint complaint is enough. */
function readable(errors: readonly ErrorObject[]): Violation[] {
  const joint = new Set(
    errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath),
  );
  const insideJoint = ({ instancePath, keyword }: ErrorObject): boolean =>
    keyword !== 'anyOf' &&
    [...joint].some((path) => instancePath === path || instancePath.startsWith(`${path}/`));
  return errors.filter((error) => !insideJoint(error)).map(violation);
}

function violation({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): Violation {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const child = (name: unknown): string => (path === '' ? String(name) : `${path}.${String(name)}`);
  switch (keyword) {
    case 'required':
      return told(child(params['missingProperty']), 'is required');
    case 'additionalProperties':
      return told(child(params['additionalProperty']), 'is not a known field of this route');
    case 'enum':
      return told(path, `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`);
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
