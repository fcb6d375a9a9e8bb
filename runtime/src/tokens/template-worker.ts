// Runs in a worker thread: renders conversations with the template that the thread was made with.

import Tinypool from 'tinypool';
import {
  ChatTemplate,
  ChatTemplateRefusal,
  type ChatTemplateInput,
  type ChatTemplateSource,
} from './chat-template.js';

/** Errors lose their class between threads, so a refusal is a value. */
export type Rendered = { readonly text: string } | { readonly refusal: string };

const template = ChatTemplate.fromSource(Tinypool.workerData as ChatTemplateSource);

/** @param input null: only tells that the thread is there */
export default function render(input: ChatTemplateInput | null): Rendered {
  if (input === null) return { text: '' };
  try {
    return { text: template.render(input) };
  } catch (error) {
    if (!(error instanceof ChatTemplateRefusal)) throw error;
    return { refusal: error.message };
  }
}
