// Whether a body asks for a stream: `"stream": true` at the top of its JSON. It builds nothing, since a body of 32 MiB may
// take a gigabyte once it is parsed. Of what is no JSON it may say either: the pod refuses that.

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const spaces = [0x20, 0x09, 0x0a, 0x0d];
/** Braces and brackets differ in one bit. */
const [opening, closing, bit] = [0x7b, 0x7d, 0x20];

export function asksForStream(body: Buffer): boolean {
  if (!body.includes('"stream"')) return false;
  let asks = false;
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
    if (depth === 1 && reads(body, at, '"stream"')) {
      const behind = skipSpace(body, end);
      // Of several the last one counts, as for every parser.
      if (body[behind] === colon) asks = reads(body, skipSpace(body, behind + 1), 'true');
    }
    at = end;
  }
  return asks;
}

/** @returns the index behind its closing quote */
function endOfString(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== quote) at += body[at] === backslash ? 2 : 1;
  return at + 1;
}

function skipSpace(body: Buffer, start: number): number {
  let at = start;
  while (spaces.includes(body[at] ?? 0)) at += 1;
  return at;
}

function reads(body: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (body[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
