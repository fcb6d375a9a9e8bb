// What the server and one of its text processes say to each other, over the channel of node:child_process with 'advanced'
// serialization: typed arrays travel as they are. One task at a time. What the server says comes in parts.

import type { ChatTemplateInput, ChatTemplateSource } from '../tokens/chat-template.js';

/** Of a message to a process, as node:v8 serializes it. */
export interface MessagePart {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** The first message to a process: what it works with. */
export interface TextProcessStart {
  /** tokenizer.json in UTF-8. */
  readonly tokenizerJson: Uint8Array;
  /** Null: the checkpoint has none. */
  readonly template: ChatTemplateSource | null;
  /** Of memory, for its work. */
  readonly roomMb: number;
  /** Whether a tokenizer that is not known is first tried on texts that bring bad patterns to light. */
  readonly tries: boolean;
}

export type TextTask =
  | { readonly kind: 'encode'; readonly text: string; readonly addSpecialTokens: boolean }
  | { readonly kind: 'render'; readonly input: ChatTemplateInput };

export type TextReply =
  | { readonly kind: 'ids'; readonly ids: Int32Array }
  | { readonly kind: 'text'; readonly text: string }
  /** The template refuses the conversation. Errors lose their class between processes, so that a refusal is a value. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The tokenizer gives an error for the text. */
  | { readonly kind: 'failed'; readonly message: string };

/** What a process sends: one of the first two after the start, then a reply per task. */
export type TextProcessMessage =
  | { readonly kind: 'ready' }
  /** The tokenizer cannot be used; `message` is the rest of a sentence about it. */
  | { readonly kind: 'unusable'; readonly message: string }
  /** `isWorn`: it holds so much memory now that another one should do the next task. */
  | { readonly kind: 'reply'; readonly reply: TextReply; readonly isWorn: boolean };
