// How deep a body, and JSON that it has as text, may be nested. JSON's reader takes any depth; what goes through the
// result afterwards, its writer among them, calls itself for each level and has no stack for ten thousand.

import type { RequestHandler } from 'express';
import { ApiError } from './api-error.js';

/** Several times what conversations and schemas of tools have. */
const mostLevels = 128;

export const tooDeep = `is nested deeper than ${String(mostLevels)} levels`;

/** @throws ApiError invalid_request */
export const requireShallowBody: RequestHandler = (request, _response, next) => {
  if (isTooDeep(request.body)) throw ApiError.of('invalid_request', `the body ${tooDeep}`);
  next();
};

function isTooDeep(body: unknown): boolean {
  let levels = 0;
  for (let level = objectsIn([body]); level.length > 0; level = level.flatMap(objectsOf)) {
    levels += 1;
    if (levels > mostLevels) return true;
  }
  return false;
}

const objectsOf = (value: object): object[] => objectsIn(Array.isArray(value) ? value : Object.values(value));

const objectsIn = (values: readonly unknown[]): object[] =>
  values.filter((value): value is object => typeof value === 'object' && value !== null);

/** Of JSON as text, before anything reads it; of what is no JSON it says nothing. */
export function isTooDeepText(text: string): boolean {
  let levels = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') inString = !inString;
    else if (character === '\\') i += 1;
    else if (inString) continue;
    else if (character === '[' || character === '{') levels += 1;
    else if (character === ']' || character === '}') levels -= 1;
    if (levels > mostLevels) return true;
  }
  return false;
}
