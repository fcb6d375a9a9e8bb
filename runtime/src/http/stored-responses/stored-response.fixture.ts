// Responses to store, and where.

import { MemoryResponseStore } from './memory-response-store.js';
import type { Asker, StoredConversation, StoredResponse } from './stored-response.js';
import { StoredResponses } from './stored-responses.js';

/** Of ten responses, whose time does not pass unless the test has a clock. */
export const smallMemory = (now = (): number => 0, maxCount = 10): MemoryResponseStore =>
  new MemoryResponseStore({ maxBytes: 1e6, maxCount, maxAgeMs: 1_000 }, now);

export const smallStore = (...of: Parameters<typeof smallMemory>): StoredResponses =>
  new StoredResponses(smallMemory(...of));

/** One for whom there is room. */
export const asker = (owner: string): Asker => ({ owner, take: () => undefined });

export const storedConversation = (id: string): StoredConversation => ({
  conversation: { id, object: 'conversation', created_at: 0, metadata: {} },
  items: [{ id: 'msg_0', type: 'message', role: 'user', content: 'x' }],
});

export const storedResponse = (id: string, text = 'Hi'): StoredResponse => ({
  response: {
    id,
    status: 'completed',
    background: false,
    output: [{ id: id.replace('resp_', 'msg_'), type: 'message', role: 'assistant', content: [{ text }] }],
  },
  items: [{ id: 'msg_0', type: 'message', role: 'user', content: 'x' }],
  events: null,
  aliveAtMs: null,
});
