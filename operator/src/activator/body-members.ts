// The members at the top of a body's JSON. Nothing is built, since a body of 32 MiB may take a gigabyte once it is parsed, and
// texts are jumped over, which images make long. Of what is no JSON it may say anything: who is asked next refuses that.

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const spaces = [0x20, 0x09, 0x0a, 0x0d];
/** Braces and brackets differ in one bit. */
const [opening, closing, bit] = [0x7b, 0x7d, 0x20];

/**
 * Calls `visit` with each member's place: of the quotes around its name, behind them, and of its value's first byte. Of several of
 * a name the last one counts, as for every parser.
 * @param visit false: no more of them are wanted
 */
export function visitMembers(
  body: Buffer,
  visit: (name: number, end: number, value: number) => boolean,
): void {
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
    if (depth === 1) {
      const behind = skipSpace(body, end);
      if (body[behind] === colon && !visit(at, end, skipSpace(body, behind + 1))) return;
    }
    at = end;
  }
}

/** Whether a JSON text begins there. */
export const isTextAt = (body: Buffer, at: number): boolean => body[at] === quote;

/** @returns the index behind the closing quote of the text that begins there */
export function endOfString(body: Buffer, start: number): number {
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

/** @returns the index of the first byte that is no space */
export function skipSpace(body: Buffer, start: number): number {
  let at = start;
  while (spaces.includes(body[at] ?? 0)) at += 1;
  return at;
}
