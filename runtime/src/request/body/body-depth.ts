// How deep a body may be nested. JSON's reader takes any depth; what goes through the result afterwards, its writer among
// them, calls itself for each level and has no stack for ten thousand.

import type { RequestHandler } from 'express';
import { ApiError } from './api-error.js';

/** Several times what conversations and schemas of tools have. */
const mostLevels = 128;

/** @throws ApiError invalid_request */
export const requireShallowBody: RequestHandler = (request, _response, next) => {
  let levels = 0;
  for (let level = objectsOf([request.body]); level.length > 0; level = objectsOf(level.flatMap(valuesOf))) {
    levels += 1;
    if (levels <= mostLevels) continue;
    throw ApiError.of('invalid_request', `the body is nested deeper than ${String(mostLevels)} levels`);
  }
  next();
};

const objectsOf = (values: readonly unknown[]): object[] =>
  values.filter((value): value is object => typeof value === 'object' && value !== null);

const valuesOf = (value: object): unknown[] =>
  Array.isArray(value) ? objectsOf(value) : Object.values(value);
