// A request's body, whole, within the room that there is for it.

import type { IncomingMessage } from 'node:http';
import { ActivatorError } from './activator-error.js';

export interface Room {
  /** @returns false where there is none */
  takeBytes(count: number): boolean;
  giveBytes(count: number): void;
}

/** The caller gives back the room of a body that it was given. @throws ActivatorError, or when the client goes away */
export async function readBody(request: IncomingMessage, room: Room, maxBytes: number): Promise<Buffer> {
  const foreseen = Math.min(Number(request.headers['content-length'] ?? maxBytes), maxBytes);
  // Chunks are copied: kept, one of a single byte would hold hundreds. Room is taken for all of the buffer.
  let buffer = Buffer.alloc(0);
  let bytes = 0;
  try {
    // Who is refused within the body still gets an answer.
    const read = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    for await (const chunk of read) {
      const needed = bytes + chunk.byteLength;
      if (needed > maxBytes) {
        const message = `the body has more than ${String(maxBytes)} bytes`;
        throw new ActivatorError('request_too_large', message);
      }
      if (needed > buffer.byteLength) {
        // Twice as much spares copies; where there is no room for it, what is needed will do.
        const sizes = [Math.max(needed, Math.min(2 * buffer.byteLength, foreseen)), needed];
        const size = sizes.find((each) => room.takeBytes(each - buffer.byteLength));
        if (size === undefined) {
          throw new ActivatorError('queue_full', 'too much is waiting for its model: try again later', 5);
        }
        buffer = Buffer.concat([buffer], size);
      }
      chunk.copy(buffer, bytes);
      bytes = needed;
    }
  } catch (error) {
    room.giveBytes(buffer.byteLength);
    request.resume();
    throw error;
  }
  room.giveBytes(buffer.byteLength - bytes);
  return bytes === buffer.byteLength ? buffer : Buffer.from(buffer.subarray(0, bytes));
}
