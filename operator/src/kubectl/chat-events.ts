// What comes of a streamed chat completion: texts, thoughts, and how it ended. Pure.

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
  let rest = '';
  for await (const piece of body) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield* eventsOf(block);
  }
}

function* eventsOf(block: string): Generator<ChatEvent> {
  // Comments keep the connection alive.
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined || data === '[DONE]') return;
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
