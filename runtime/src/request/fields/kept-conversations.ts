// The bodies that create and change a stored conversation, as OpenAI has them.

import { metadata } from '../body/field-schemas.js';
import { items } from './responses-input.js';

export const keptConversations = {
  conversations: { items, metadata },
  conversation: { metadata },
  conversationItems: { items },
} as const;

/** There are none: what is not known is refused as such. */
export const refusedOfConversations = { conversations: {}, conversation: {}, conversationItems: {} } as const;
