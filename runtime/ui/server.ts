// The server that this page came from. Paths are relative to the page, so that it works behind any prefix.

/** What GET ui/status reports. */
export interface Status {
  readonly model: string;
  readonly state: string;
  readonly failure: { readonly reason: string; readonly message: string } | null;
  readonly load: {
    readonly phase: string;
    readonly bytesDone: number;
    readonly bytesTotal: number;
    readonly etaSeconds: number | null;
    /** Shapes that have run before the first request; null before that begins. */
    readonly warmup: { readonly done: number; readonly total: number } | null;
  } | null;
  /** Null until the engine has taken a step. */
  readonly engine: {
    readonly running: number;
    readonly waiting: number;
    readonly blocksUsed: number;
    readonly blocksTotal: number;
    readonly generatedTokens: number;
  } | null;
  readonly errors: readonly { readonly at: number; readonly route: string | null; readonly code: string }[];
}

/** A message of the conversation, as the chat route takes it. */
export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** A part of an answer. */
export interface Delta {
  readonly content?: string | null;
  readonly reasoning?: string | null;
}

/** The server asks for a key, or for another one. */
export class KeyWanted extends Error {}

const keyName = 'llmservice-key';
const statusTimeoutMs = 10_000;

export const useKey = (key: string): void => sessionStorage.setItem(keyName, key.trim());

export async function readStatus(): Promise<Status> {
  const response = await ask('ui/status', { signal: AbortSignal.timeout(statusTimeoutMs) });
  return (await response.json()) as Status;
}

/** The answer to a conversation, as it comes. @throws with the server's own words */
export async function* answer(
  messages: readonly Message[],
  thinking: boolean,
  signal: AbortSignal,
): AsyncGenerator<Delta> {
  const body = JSON.stringify({
    messages,
    stream: true,
    chat_template_kwargs: { enable_thinking: thinking },
  });
  const response = await ask('v1/chat/completions', { method: 'POST', body, signal });
  if (response.body === null) return;
  for await (const event of events(response.body)) {
    const { choices, error } = JSON.parse(event) as {
      readonly choices?: readonly { readonly delta: Delta }[];
      readonly error?: { readonly message: string };
    };
    if (error !== undefined) throw new Error(error.message);
    const delta = choices?.[0]?.delta;
    if (delta !== undefined) yield delta;
  }
}

/** The data of server-sent events, up to the last before [DONE]. @throws when the stream ends without that */
async function* events(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  // Not by `for await`, which Safari has not for streams.
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the answer broke off');
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        if (part === 'data: [DONE]') return;
        // What does not begin so is a comment that keeps the connection.
        if (part.startsWith('data: ')) yield part.slice('data: '.length);
      }
    }
  } finally {
    // What has failed cannot be cancelled, and need not be.
    await reader.cancel().catch(() => undefined);
  }
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const key = sessionStorage.getItem(keyName);
  if (key !== null && !/^[!-~]+$/.test(key))
    throw new KeyWanted('the API key has a space or a letter that no key has: copy it again');
  const headers = {
    'content-type': 'application/json',
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
  const response = await fetch(path, { ...init, headers });
  if (response.ok) return response;
  const message = await messageOf(response);
  throw response.status === 401 ? new KeyWanted(message) : new Error(message);
}

async function messageOf(response: Response): Promise<string> {
  const message = `the server answered ${String(response.status)}`;
  try {
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } };
    return error?.message ?? message;
  } catch {
    return message;
  }
}
