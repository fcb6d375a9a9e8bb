// Whether a body asks for a stream: `"stream": true` at the top of its JSON. Of what is no JSON it may say either: the pod
// refuses that.

import { visitMembers } from './body-members.js';

export function asksForStream(body: Buffer): boolean {
  if (!body.includes('"stream"')) return false;
  let asks = false;
  visitMembers(body, (name, _, value) => {
    if (reads(body, name, '"stream"')) asks = reads(body, value, 'true');
    return true;
  });
  return asks;
}

function reads(body: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (body[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
