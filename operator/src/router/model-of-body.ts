// The `model` at the top of a body's JSON. Of what is no JSON it may say anything: the service refuses that.

import { endOfString, isTextAt, visitMembers } from '../activator/body-members.js';

/** Of UTF-8, and of UTF-16 in both orders. */
const marks = [
  [0xef, 0xbb, 0xbf],
  [0xff, 0xfe],
  [0xfe, 0xff],
].map((bytes) => Buffer.from(bytes));
/** Longer names are nobody's, and so are keys. */
const maxNameBytes = 4_096;
/** Requests have some dozens: millions would hold up the requests of all others. */
export const maxMembers = 1_000;

export type BodyModel =
  | { readonly state: 'named'; readonly name: string }
  | { readonly state: 'absent' }
  /** It is no text, or one that is no name. */
  | { readonly state: 'invalid' }
  /** The body is no JSON in UTF-8: others may read another name in it. */
  | { readonly state: 'encoded' }
  /** It has more than `maxMembers` at its top. */
  | { readonly state: 'crowded' };

export function modelOfBody(body: Buffer): BodyModel {
  if (isEncoded(body)) return { state: 'encoded' };
  let model: BodyModel = { state: 'absent' };
  let members = 0;
  visitMembers(body, (name, end, value) => {
    members += 1;
    if (textAt(body, name, end) === 'model') model = valueAt(body, value);
    return members <= maxMembers;
  });
  return members > maxMembers ? { state: 'crowded' } : model;
}

/** By a mark of the order of bytes, or by a zero among the first four, as UTF-16 and UTF-32 have of any JSON. */
function isEncoded(body: Buffer): boolean {
  const front = body.subarray(0, 4);
  return front.includes(0) || marks.some((mark) => front.subarray(0, mark.length).equals(mark));
}

function valueAt(body: Buffer, at: number): BodyModel {
  if (!isTextAt(body, at)) return { state: 'invalid' };
  const name = textAt(body, at, endOfString(body, at));
  return name === null || name === '' ? { state: 'invalid' } : { state: 'named', name };
}

/** A JSON text with its quotes. Null: it is none, or too long for a name. */
function textAt(body: Buffer, start: number, end: number): string | null {
  if (end - start > maxNameBytes) return null;
  try {
    return JSON.parse(body.toString('utf8', start, end)) as string;
  } catch {
    return null;
  }
}
