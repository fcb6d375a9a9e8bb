// Chat messages in the one form that templates of text models understand: content is a string.

import type { Fields } from './validate-body.js';

export type Message = Fields & { readonly role: string; readonly content: string };

interface RawMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text: string }[] | null;
}

/** Text parts are joined as they are; `developer` is OpenAI's newer word for `system`. */
export function readMessages(messages: unknown): Message[] {
  return (messages as readonly RawMessage[]).map((message) => ({
    ...message,
    role: message.role === 'developer' ? 'system' : message.role,
    content: textOf(message.content),
  }));
}

function textOf(content: RawMessage['content']): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text).join('');
}
