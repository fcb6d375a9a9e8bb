// Ids of calls for chat templates that take nine letters and digits alone. Ids of other servers become such, always the
// same for the same id: a call and its result stay together, and the prefix cache knows the conversation.

import { createHash } from 'node:crypto';
import type { Message } from '../fields/messages.js';

const isShort = /^[A-Za-z0-9]{9}$/;

export const withShortIds = (messages: readonly Message[]): readonly Message[] =>
  messages.map((message) => {
    const { tool_calls: calls, tool_call_id: id } = message;
    return {
      ...message,
      ...(calls === undefined ? {} : { tool_calls: calls.map(withShortId) }),
      ...(id === undefined ? {} : { tool_call_id: shortened(id) }),
    };
  });

type Call = NonNullable<Message['tool_calls']>[number];

const withShortId = (call: Call): Call =>
  call.id === undefined ? call : { ...call, id: shortened(call.id) };

function shortened(id: string | null): string | null {
  if (id === null || isShort.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
