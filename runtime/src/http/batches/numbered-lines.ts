// Lines of a content that comes in parts of megabytes, with pauses for whatever else runs in this process.

import { setImmediate as immediate } from 'node:timers/promises';
import { LineReader, type Line } from './line-reader.js';

/** Of lines that are read at once: to check them takes a millisecond. */
const sliceBytes = 64 * 1024;

export async function* numberedLines(parts: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  const reader = new LineReader(maxBytes);
  for await (const part of parts)
    for (let at = 0; at < part.length; at += sliceBytes) {
      yield* reader.push(part.subarray(at, at + sliceBytes));
      await immediate();
    }
  yield* reader.end();
}
