// Checks every line of a batch's input before the first is answered.

import type { BatchEndpoint } from '../../request/fields/batch-fields.js';
import { batchErrors, readRow, type LineError } from './batch-row.js';
import type { Line } from './line-reader.js';

/** OpenAI's. */
export const maxRows = 50_000;
/** That the client gets, of those that are found. */
const maxErrors = 20;

interface Checked {
  readonly total: number;
  /** Empty: every line can be sent. */
  readonly errors: readonly LineError[];
}

/** @param over aborted: what is returned is of no use */
export async function checkRows(
  lines: AsyncIterable<Line>,
  endpoint: BatchEndpoint,
  maxLineBytes: number,
  over: AbortSignal,
): Promise<Checked> {
  const errors: LineError[] = [];
  const lineOf = new Map<string, number>();
  let total = 0;
  for await (const line of lines) {
    if (over.aborted || errors.length >= maxErrors) break;
    total += 1;
    if (total > maxRows) return { total, errors: [...errors, batchErrors.tooMany(maxRows)] };
    const read = readRow(line, endpoint, maxLineBytes);
    if (!read.ok) {
      errors.push(read.error);
      continue;
    }
    const { customId } = read.row;
    const before = lineOf.get(customId);
    if (before === undefined) lineOf.set(customId, line.number);
    else errors.push(batchErrors.duplicate(customId, before, line.number));
  }
  if (total === 0 && !over.aborted) errors.push(batchErrors.empty);
  return { total, errors };
}

/** Of a line that was checked. */
export function customIdOf(bytes: Buffer | null): string {
  const { custom_id = '' } = JSON.parse(bytes?.toString() ?? '{}') as { readonly custom_id?: string };
  return custom_id;
}
