// What the server, the launcher and the text processes send to each other, over channels of node:child_process with 'advanced'
// serialization: typed arrays travel as they are. A text process does one task at a time.

import type { ChatTemplateInput, ChatTemplateSource } from '../tokens/chat-template.js';

/** Of a message, as node:v8 serializes it. */
export interface MessagePart {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** What all text processes of a server work with. */
export interface TextModel {
  /** tokenizer.json in UTF-8. */
  readonly tokenizerJson: Uint8Array;
  /** Null: the checkpoint has none. */
  readonly template: ChatTemplateSource | null;
  /** Of memory, for its work. */
  readonly roomMb: number;
}

/** The first message to a text process, in parts; each one after it is a task, in parts too. */
export interface TextProcessStart extends TextModel {
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
  /** The tokenizer gives an error for the text, or the template itself is at fault. */
  | { readonly kind: 'failed'; readonly message: string };

/** What a process sends: one of the first two after the start, then a reply per task. */
export type TextProcessMessage =
  | { readonly kind: 'ready' }
  /** The tokenizer cannot be used; `message` is the rest of a sentence about it. */
  | { readonly kind: 'unusable'; readonly message: string }
  /** `isWorn`: it holds so much memory now that another one should do the next task. */
  | { readonly kind: 'reply'; readonly reply: TextReply; readonly isWorn: boolean };

/** What the server sends to the launcher; `id` is the server's number for one text process. */
export type LauncherRequest =
  /** Once, before the first launch: a TextModel. */
  | { readonly kind: 'model'; readonly part: MessagePart }
  /** The process is started with the model, and what it sends is passed on. */
  | { readonly kind: 'launch'; readonly id: number; readonly dataKb: number; readonly tries: boolean }
  /** Of a task for the process. */
  | { readonly kind: 'task'; readonly id: number; readonly part: MessagePart }
  | { readonly kind: 'kill'; readonly id: number };

/** What the launcher sends to the server. */
export type LauncherMessage =
  | { readonly kind: 'launched'; readonly id: number; readonly pid: number }
  | { readonly kind: 'message'; readonly id: number; readonly message: TextProcessMessage }
  | { readonly kind: 'ended'; readonly id: number; readonly end: ProcessEnd };

/** How a process ended. */
export interface ProcessEnd {
  /** False: it could not be started, and `errors` says why. */
  readonly isStarted: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to its standard error. */
  readonly errors: string;
}
