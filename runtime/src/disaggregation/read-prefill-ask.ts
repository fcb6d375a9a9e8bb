// The body of a decode pod's request, held to its fields: every violation with its field, what was found, what would do.

import { invalidRequest, violationAt, type Violation } from '../request/body/violation.js';
import type { PrefillAsk } from './prefill-ask.js';

interface Field {
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const integer = (minimum: number, maximum: number): Field => ({
  expected: `a whole number from ${String(minimum)} to ${String(maximum)}`,
  holds: (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
});
const text = (longest: number): Field => ({
  expected: `a text of at most ${String(longest)} characters`,
  holds: (value) => typeof value === 'string' && value.length <= longest,
});
const orNull = ({ expected, holds }: Field): Field => ({
  expected: `${expected}, or null`,
  holds: (value) => value === null || holds(value),
});

const largest = 2 ** 31 - 1;
const count = integer(0, largest);

const fields: Readonly<Record<keyof PrefillAsk, Field>> = {
  layout: text(4096),
  prompt: { expected: 'tokens of four bytes each, in base64', holds: areTokens },
  from: count,
  cacheSalt: orNull(text(4096)),
  boundaries: {
    expected: 'an ascending list of whole numbers',
    holds: (value) =>
      Array.isArray(value) && value.every((each, i) => count.holds(each) && isAbove(each, value[i - 1])),
  },
  fairnessKey: text(4096),
  priority: integer(-8, 8),
  maxQueueMs: orNull(count),
};

/**
 * @param vocabSize tokens are below it
 * @throws ApiError invalid_request
 */
export function readPrefillAsk(body: unknown, vocabSize: number): PrefillAsk {
  const given = (body ?? {}) as Partial<Record<string, unknown>>;
  const violations: Violation[] = Object.entries(fields).flatMap(([name, { expected, holds }]) =>
    holds(given[name]) ? [] : [violationAt(name, `must be ${expected}, not ${shown(given[name])}`)],
  );
  for (const name of Object.keys(given).filter((each) => !Object.hasOwn(fields, each)))
    violations.push(violationAt(name, `is no field here; there are ${Object.keys(fields).join(', ')}`));
  if (violations.length > 0) throw invalidRequest(violations);
  const prompt = tokensOf(given['prompt'] as string);
  const wrong = prompt.find((token) => token < 0 || token >= vocabSize);
  if (wrong !== undefined) {
    const message = `has the token ${String(wrong)}, and the model's are from 0 to ${String(vocabSize - 1)}`;
    throw invalidRequest([violationAt('prompt', message)]);
  }
  return { ...(given as unknown as PrefillAsk), prompt };
}

function areTokens(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return false;
  return Buffer.byteLength(value, 'base64') % Int32Array.BYTES_PER_ELEMENT === 0;
}

function tokensOf(base64: string): Int32Array {
  // A copy: an Int32Array begins at a multiple of four bytes.
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Int32Array(bytes.buffer);
}

function isAbove(value: unknown, before: unknown): boolean {
  return before === undefined || Number(value) >= Number(before);
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
