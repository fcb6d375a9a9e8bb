// What comes of a streamed chat completion: texts, thoughts, and how it ended. Pure.

import { createParser } from 'eventsource-parser';

export type ChatEvent =
  | { readonly kind: 'thought' | 'text'; readonly text: string }
  | { readonly kind: 'end'; readonly reason: string }
  | { readonly kind: 'usage'; readonly tokens: number }
  | { readonly kind: 'error'; readonly message: string };

interface Chunk {
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly completion_tokens?: number } | null;
}

/** From the body of an answer, in pieces of any size. */
export async function* chatEvents(body: AsyncIterable<string>): AsyncGenerator<ChatEvent> {
  const received: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => received.push(data) });
  for await (const piece of body) {
    parser.feed(piece);
    for (const data of received.splice(0)) yield* eventsOf(data);
  }
}

function* eventsOf(data: string): Generator<ChatEvent> {
  if (data === '[DONE]') return;
  const { error, choices = [], usage } = JSON.parse(data) as Chunk;
  if (error !== undefined) yield { kind: 'error', message: error.message ?? data };
  for (const { delta = {}, finish_reason: reason } of choices) {
    if (typeof delta.reasoning === 'string' && delta.reasoning !== '') {
      yield { kind: 'thought', text: delta.reasoning };
    }
    if (typeof delta.content === 'string' && delta.content !== '')
      yield { kind: 'text', text: delta.content };
    if (typeof reason === 'string') yield { kind: 'end', reason };
  }
  if (usage?.completion_tokens !== undefined) yield { kind: 'usage', tokens: usage.completion_tokens };
}
