import { expect, test } from '@jest/globals';
import { EventCount } from './event-count.js';

function countOf(text: string, partBytes: number): number {
  const count = new EventCount();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.byteLength; at += partBytes) count.add(bytes.subarray(at, at + partBytes));
  return count.value;
}

test.each([
  ['events', 'data: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n', 3],
  ['events with names', 'event: a\ndata: {}\n\nevent: b\ndata: {}\n\n', 2],
  ['lines that end as on Windows', 'data: {}\r\n\r\ndata: {}\r\n\r\n', 2],
  ['comments', ': waiting for the model\n\n: waiting for the model\n\ndata: {}\n\n', 1],
  ['a text with data: in it', 'data: {"text":"data:\\ndata: x"}\n\n', 1],
  ['nothing', '', 0],
])('%s are counted in parts of any length', (_, text, events) => {
  for (const partBytes of [1, 2, 5, 6, 7, 100]) expect(countOf(text, partBytes)).toBe(events);
});
