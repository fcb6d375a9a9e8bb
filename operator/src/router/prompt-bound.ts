// How many tokens the prompt of a body has at least. Images and sounds are not counted: their bytes, as base64, say nothing of
// the tokens that they become, and one of a megabyte would take a small key's day.

import { endOfString, isTextAt, skipSpace } from '../activator/body-members.js';

/** Few texts have more bytes for each token, with what JSON adds to them. */
const bytesPerToken = 16;
/** Of a URL that has all of its content: `data:image/png;base64,…`. */
const urlMark = Buffer.from(';base64,');
/** Members that have it without such a URL: OpenAI's `input_audio`, Anthropic's `source`. */
const memberMark = Buffer.from('"data"');
const colon = 0x3a;
const quote = Buffer.from('"');
/** More than requests have: to look for millions would hold up the requests of all others. */
const maxParts = 1_000;

export function promptBound(body: Buffer): number {
  return Math.max(1, Math.floor(textBytes(body) / bytesPerToken));
}

function textBytes(body: Buffer): number {
  const next = (mark: Buffer, from: number): number => {
    const found = body.indexOf(mark, from);
    return found < 0 ? body.byteLength : found;
  };
  let bytes = body.byteLength;
  let [url, member] = [next(urlMark, 0), next(memberMark, 0)];
  for (let parts = 0; parts < maxParts; parts += 1) {
    const at = Math.min(url, member);
    if (at === body.byteLength) break;
    const start = url < member ? at : valueOf(body, at);
    const end = url < member ? next(quote, at) : isTextAt(body, start) ? endOfString(body, start) : start;
    bytes -= end - start;
    if (url < end) url = next(urlMark, end);
    if (member < end) member = next(memberMark, end);
  }
  return bytes;
}

/** Where the value of the member at `at` begins, if it is one. */
function valueOf(body: Buffer, at: number): number {
  const behind = skipSpace(body, at + memberMark.byteLength);
  return body[behind] === colon ? skipSpace(body, behind + 1) : behind;
}
