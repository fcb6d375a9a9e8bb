// What reads the bodies of requests: JSON, whatever their content type says, since clients such as curl leave it out or
// wrong. A body's bytes are held until its answer has ended: what is parsed from it lives as long.

import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { inexact, parseNoting } from '../../tools/exact-json.js';
import { noteNames } from '../../tools/written-names.js';
import { JsonBounds } from '../../request/body/json-bounds.js';
import type { LoopTurns, Steps } from '../../loop-turns.js';
import { recordOf } from '../access/request-record.js';
import type { BodyBudget } from './body-budget.js';
import { readBody } from './read-body.js';
import { header as jsonLengthHeader, jsonBytesOf, withTexts } from './tensor-texts.js';

/** Larger ones wait for their turn: smaller ones take less than some milliseconds. */
const largeBytes = 256 * 1024;

/** In a body of more, numbers and names are as JavaScript has them: a microsecond for each would keep others waiting. */
const maxNotedValues = 65_536;

export function jsonBody(budget: BodyBudget, turns: LoopTurns): RequestHandler {
  return async (request, response, next) => {
    if (hasBody(request)) {
      requireUtf8(request);
      const parts = await readHeld(budget, request, response);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      recordOf(response).read(bytes);
      const jsonBytes = request.get(jsonLengthHeader) === undefined ? bytes : jsonBytesOf(request, bytes);
      request.body =
        jsonBytes === bytes
          ? await parsed(turns, response, parts, bytes)
          : await parsedWithTexts(turns, response, Buffer.concat(parts), jsonBytes);
    }
    next();
  };
}

/** @throws ApiError invalid_request, request_aborted */
async function parsed(
  turns: LoopTurns,
  response: Response,
  parts: readonly Buffer[],
  bytes: number,
): Promise<object> {
  return bytes < largeBytes ? parse(Buffer.concat(parts)) : await parseInTurn(turns, response, parts);
}

/** @throws ApiError invalid_request, request_aborted */
async function parsedWithTexts(
  turns: LoopTurns,
  response: Response,
  body: Buffer,
  jsonBytes: number,
): Promise<object> {
  const json = await parsed(turns, response, [body.subarray(0, jsonBytes)], jsonBytes);
  return withTexts(json, body.subarray(jsonBytes));
}

/** As HTTP/1.1 says it. */
function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}

async function readHeld(
  budget: BodyBudget,
  request: Request,
  response: Response,
): Promise<readonly Buffer[]> {
  const cut = new AbortController();
  const body = budget.open(recordOf(response).key, (reason) => {
    // What comes of it is not waited for either.
    response.setHeader('connection', 'close');
    cut.abort(reason);
  });
  response.once('close', () => body.release());
  try {
    return await readBody(request, body, budget.largestBytes, cut.signal);
  } catch (error) {
    body.release();
    throw error;
  }
}

/** @throws ApiError invalid_request */
function requireUtf8({ headers }: Request): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase();
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return;
  throw ApiError.of('invalid_request', `a body in ${charset} is not read; send it in UTF-8`);
}

/** @throws ApiError invalid_request, request_aborted */
async function parseInTurn(turns: LoopTurns, response: Response, parts: readonly Buffer[]): Promise<object> {
  const left = new AbortController();
  const leave = (): void => left.abort(ApiError.of('request_aborted', 'the client went away'));
  if (response.destroyed) leave();
  response.once('close', leave);
  try {
    return await turns.run(() => parseSteps(parts), left.signal);
  } finally {
    response.off('close', leave);
  }
}

/** @throws ApiError invalid_request */
function* parseSteps(parts: readonly Buffer[]): Steps<object> {
  const bounds = new JsonBounds();
  refuseExcess(yield* bounds.excessOfParts(parts));
  const decoder = new TextDecoder();
  let text = '';
  for (const part of parts) {
    text += decoder.decode(part, { stream: true });
    yield;
  }
  // The one step that cannot be divided; the bounds keep it short.
  return requireObject(parseJson(text + decoder.decode(), bounds));
}

/** @throws ApiError invalid_request */
function parse(bytes: Buffer): object {
  // As a client that has nothing to say leaves it.
  if (bytes.length === 0) return {};
  const bounds = new JsonBounds();
  refuseExcess(bounds.excessOf(bytes));
  return requireObject(parseJson(decoder.decode(bytes), bounds));
}

/** @throws ApiError invalid_request */
function refuseExcess(excess: string | null): void {
  if (excess !== null) throw ApiError.of('invalid_request', `the body ${excess}`);
}

/** @throws ApiError invalid_request */
function requireObject(value: unknown): object {
  if (typeof value === 'object' && value !== null) return value;
  throw ApiError.of('invalid_request', 'the body is not a JSON object');
}

function parseJson(text: string, { values }: JsonBounds): unknown {
  try {
    if (values > maxNotedValues) return JSON.parse(text);
    // Anthropic's conversations have inputs of calls as JSON, which the model is to get as it wrote them.
    const hasInputs = text.includes('"tool_use"');
    const value: unknown = hasInputs && inexact.test(text) ? parseNoting(text) : JSON.parse(text);
    if (hasInputs || text.includes('"properties"')) noteNames(value, text);
    return value;
  } catch (error) {
    throw ApiError.of('invalid_request', `the body is not JSON: ${(error as Error).message}`);
  }
}

/** Takes a byte order mark away. */
const decoder = new TextDecoder();
