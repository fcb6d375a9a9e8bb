// One request of a batch: a line of its input file as OpenAI writes it, read and checked, and what is written of it when
// it has been answered. What is wrong with a line alone is found before any runs; what is wrong with its body is the
// answer to it. Pure.

import { ApiError, type ErrorBody } from '../../request/body/api-error.js';
import { JsonBounds } from '../../request/body/json-bounds.js';
import type { Fields } from '../../request/body/field-table.js';
import type { BatchEndpoint } from '../../request/fields/batch-fields.js';
import type { Line } from './line-reader.js';
import { memberText } from './member-text.js';

export interface BatchRow {
  readonly customId: string;
  /** The body as the line has it. */
  readonly bodyText: string;
  /** Why it cannot be sent; null: it can. */
  readonly refusal: ApiError | null;
}

/** What is wrong with a line, or with the file: an entry of `errors.data` of the batch. */
export interface LineError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/** What is wrong with a batch beyond one line. */
export const batchErrors = {
  empty: ofFile('empty_file', 'the file has no lines: each is a request'),
  tooMany: (most: number): LineError =>
    ofFile(
      'too_many_requests',
      `the file has more than ${String(most)} requests: make several batches of it`,
    ),
  noInput: (id: string): LineError =>
    ofFile('input_file_not_found', `the file ${id} was deleted, or is too old`),
  lost: (times: number): LineError =>
    ofFile(
      'server_error',
      `${String(times)} pods were lost one after the other while they ran the batch: send its requests by themselves to find the one that ends them`,
    ),
  duplicate: (customId: string, before: number, line: number): LineError => ({
    code: 'duplicate_custom_id',
    message: `the custom_id ${JSON.stringify(customId)} is that of line ${String(before)} already`,
    param: 'custom_id',
    line,
  }),
} as const;

function ofFile(code: string, message: string): LineError {
  return { code, message, param: 'input_file_id', line: null };
}

export type ReadRow =
  { readonly ok: true; readonly row: BatchRow } | { readonly ok: false; readonly error: LineError };

const maxCustomIdLength = 512;
/** The least urgent that there is: requests that somebody waits for come first. */
const batchPriority = 8;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param maxBytes of a line, for the message */
export function readRow({ number, bytes }: Line, endpoint: BatchEndpoint, maxBytes: number): ReadRow {
  const wrong = (code: string, message: string, param: string | null = null): ReadRow => ({
    ok: false,
    error: { code, message, param, line: number },
  });
  if (bytes === null) return wrong('line_too_long', `the line has more than ${String(maxBytes)} bytes`);
  let text: string;
  let value: unknown;
  try {
    const excess = new JsonBounds().excessOf(bytes);
    if (excess !== null) return wrong('invalid_json_line', `the line ${excess}`);
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'JSON' : 'UTF-8';
    return wrong('invalid_json_line', `the line is not ${why}`);
  }
  if (!isObject(value)) return wrong('invalid_json_line', 'the line is not a JSON object');
  const { custom_id: customId, method, url, body } = value;
  if (typeof customId !== 'string' || customId === '' || customId.length > maxCustomIdLength) {
    const message = `custom_id must be a text of 1 to ${String(maxCustomIdLength)} characters`;
    return wrong('invalid_custom_id', message, 'custom_id');
  }
  if (method !== 'POST') return wrong('invalid_method', 'method must be "POST"', 'method');
  if (url !== endpoint)
    return wrong('mismatched_url', `url must be ${endpoint}, the endpoint of the batch`, 'url');
  if (!isObject(body)) return wrong('invalid_body', 'body must be a JSON object', 'body');
  return {
    ok: true,
    row: { customId, bodyText: memberText(text, 'body') ?? '{}', refusal: refusalOf(body) },
  };
}

/** What asks for an answer that no file can have. */
function refusalOf({ stream, background }: Fields): ApiError | null {
  const refuse = (param: string): ApiError =>
    ApiError.of('invalid_request', `${param} must be false in a batch, whose answers are in a file`, {
      param,
    });
  if (stream === true) return refuse('stream');
  return background === true ? refuse('background') : null;
}

/** What is sent. The last member of a name counts. */
export function sentBody({ bodyText }: BatchRow): string {
  const members = bodyText.slice(bodyText.indexOf('{') + 1, bodyText.lastIndexOf('}'));
  const comma = members.trim() === '' ? '' : ',';
  return `{${members}${comma}"priority":${String(batchPriority)}}`;
}

export interface RowAnswer {
  readonly status: number;
  readonly requestId: string;
  /** JSON. */
  readonly body: string;
}

/** A line of the output file, or of the error file. */
export const answerLine = (id: string, customId: string, { status, requestId, body }: RowAnswer): string =>
  `{"id":${JSON.stringify(id)},"custom_id":${JSON.stringify(customId)},"response":{"status_code":${String(status)},` +
  `"request_id":${JSON.stringify(requestId)},"body":${oneLine(body)}},"error":null}\n`;

/** Of a request that nobody answered. */
export const errorLine = (id: string, customId: string, code: string, message: string): string =>
  `${JSON.stringify({ id, custom_id: customId, response: null, error: { code, message } })}\n`;

export const refusedAnswer = (error: ApiError, requestId: string): RowAnswer => {
  const body: ErrorBody = error.body;
  return { status: error.status, requestId, body: JSON.stringify(body) };
};

/** Line feeds in JSON stand between its tokens alone. */
const oneLine = (json: string): string => json.replaceAll(/[\r\n]/g, ' ').trim();

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
