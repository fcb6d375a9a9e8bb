// OpenAI's `include_obfuscation`: random characters in events of a stream, so that who sees their encrypted sizes does not
// learn how long the tokens are.

import { randomBytes } from 'node:crypto';

/** What sizes of events are multiples of: events with a token of usual length are all of one size. */
const blockBytes = 256;
const begin = ',"obfuscation":"';
const end = '"';

/** Chunks of OpenAI's chats and completions, and deltas of its Responses: what is sent of the text. */
const ofText = /^(data: \{|event: [\w.]+\.delta\n)/;

/** @param event as sse-event.ts writes it; one without text stays as it is */
export function obfuscated(event: string): string {
  if (!ofText.test(event)) return event;
  const at = event.lastIndexOf('}');
  const bytes = Buffer.byteLength(event) + begin.length + end.length;
  const missing = blockBytes - (bytes % blockBytes);
  const characters = randomBytes(missing).toString('base64url').slice(0, missing);
  return `${event.slice(0, at)}${begin}${characters}${end}${event.slice(at)}`;
}
