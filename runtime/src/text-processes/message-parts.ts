// Messages of megabytes in parts: to write one into a channel at once would hold up the event loop.

import { deserialize, serialize } from 'node:v8';
import type { MessagePart } from './protocol.js';

const partBytes = 2 ** 18;

/** @param send writes one part, and calls back once the channel has taken it; no part follows an error */
export function sendInParts(
  message: object,
  send: (part: MessagePart, taken: (error: Error | null) => void) => void,
): void {
  const bytes = serialize(message);
  const sendFrom = (at: number): void => {
    const end = at + partBytes;
    const part: MessagePart = { bytes: bytes.subarray(at, end), isLast: end >= bytes.length };
    send(part, (error) => {
      if (error === null && !part.isLast) sendFrom(end);
    });
  };
  sendFrom(0);
}

/** @returns to be called with each part; calls back with each message once its last part has come */
export function joinParts(receive: (message: unknown) => void): (part: MessagePart) => void {
  let parts: Uint8Array[] = [];
  return ({ bytes, isLast }) => {
    parts.push(bytes);
    if (!isLast) return;
    const whole = Buffer.concat(parts);
    parts = [];
    receive(deserialize(whole));
  };
}
