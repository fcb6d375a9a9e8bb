// A request's body, whole, within the room that there is for it.

import type { IncomingMessage } from 'node:http';
import { ActivatorError } from './activator-error.js';

export interface Room {
  takeBytes(count: number): boolean;
  giveBytes(count: number): void;
}

/** The caller gives back the room of a body that it was given. @throws ActivatorError, or when the client goes away */
export async function readBody(request: IncomingMessage, room: Room, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Who is refused within the body is still to be told so.
    const read = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    for await (const chunk of read) {
      if (bytes + chunk.byteLength > mostBytes) {
        const message = `the body has more than ${String(mostBytes)} bytes`;
        throw new ActivatorError('request_too_large', message);
      }
      if (!room.takeBytes(chunk.byteLength)) {
        throw new ActivatorError('queue_full', 'too much is waiting for its model: try again later', 5);
      }
      bytes += chunk.byteLength;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    room.giveBytes(bytes);
    request.resume();
    throw error;
  }
}
