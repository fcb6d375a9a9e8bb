// The `model` at the top of a body's JSON. It builds nothing, since a body of 32 MiB may take a gigabyte once it is parsed,
// and jumps over texts, which images make long. Of what is no JSON it may say anything: the service refuses that.

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const spaces = [0x20, 0x09, 0x0a, 0x0d];
/** Braces and brackets differ in one bit. */
const [opening, closing, bit] = [0x7b, 0x7d, 0x20];
/** Of UTF-8, and of UTF-16 in both orders. */
const marks = [
  [0xef, 0xbb, 0xbf],
  [0xff, 0xfe],
  [0xfe, 0xff],
].map((bytes) => Buffer.from(bytes));
/** Longer names are nobody's, and so are keys. */
const maxNameBytes = 4_096;

export type BodyModel =
  | { readonly state: 'named'; readonly name: string }
  | { readonly state: 'absent' }
  /** It is no text, or one that is no name. */
  | { readonly state: 'invalid' }
  /** The body is no JSON in UTF-8: others may read another name in it. */
  | { readonly state: 'encoded' };

export function modelOfBody(body: Buffer): BodyModel {
  if (isEncoded(body)) return { state: 'encoded' };
  let model: BodyModel = { state: 'absent' };
  let depth = 0;
  let at = 0;
  while (at < body.length) {
    const byte = body[at] ?? 0;
    if (byte !== quote) {
      if ((byte | bit) === opening) depth += 1;
      else if ((byte | bit) === closing) depth -= 1;
      at += 1;
      continue;
    }
    const end = endOfString(body, at);
    const behind = depth === 1 ? skipSpace(body, end) : end;
    // Of several the last one counts, as for every parser.
    if (depth === 1 && body[behind] === colon && textAt(body, at, end) === 'model') {
      model = valueAt(body, skipSpace(body, behind + 1));
    }
    at = end;
  }
  return model;
}

/** By a mark of the order of bytes, or by a zero among the first four, as UTF-16 and UTF-32 have of any JSON. */
function isEncoded(body: Buffer): boolean {
  const front = body.subarray(0, 4);
  return front.includes(0) || marks.some((mark) => front.subarray(0, mark.length).equals(mark));
}

function valueAt(body: Buffer, at: number): BodyModel {
  if (body[at] !== quote) return { state: 'invalid' };
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

/** @returns the index behind its closing quote */
function endOfString(body: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    const end = body.indexOf(quote, at);
    if (end < 0) return body.length;
    let before = end;
    while (body[before - 1] === backslash && before - 1 > start) before -= 1;
    // An even number of backslashes stand for themselves.
    if ((end - before) % 2 === 0) return end + 1;
    at = end + 1;
  }
}

function skipSpace(body: Buffer, start: number): number {
  let at = start;
  while (spaces.includes(body[at] ?? 0)) at += 1;
  return at;
}
