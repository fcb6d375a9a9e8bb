// An adapter in parts: steps run between them, so that nobody waits for a whole adapter to be read.

import type { LocalAdapter } from '@llmservice/checkpoint/local';
import type { AdapterPart, AdapterPair } from './binding.js';

/** Reading and laying out as much takes tens of milliseconds. */
const partBytes = 8 * 2 ** 20;

/** What `loadAdapter` of an engine is to be given, in this order. */
export function adapterParts(number: number, { file, pairs }: LocalAdapter): AdapterPart[] {
  const parts: AdapterPair[][] = [[]];
  let bytes = 0;
  for (const { layer, projection, rank, scale, a, b } of pairs) {
    if (bytes >= partBytes) {
      parts.push([]);
      bytes = 0;
    }
    bytes += a.bytes + b.bytes;
    const places = { aDtype: a.dtype, aOffset: a.offset, bDtype: b.dtype, bOffset: b.offset };
    parts.at(-1)?.push({ layer, projection, rank, scale, ...places });
  }
  return parts.map((each, i) => ({ number, file, pairs: each, last: i === parts.length - 1 }));
}
