// A conversation with a model: what was said so far, and one request for each thing that is said.

import { once } from 'node:events';
import { request as send, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { errorText } from '../kube/error-text.js';
import { ClusterError } from '../kube/connect.js';
import { chatEvents, type ChatEvent } from './chat-events.js';

export interface ChatSettings {
  readonly model: string;
  readonly system: string | null;
  readonly key: string | null;
  readonly maxTokens: number | null;
  /** A new connection to a server of the model. */
  readonly open: () => Promise<Duplex>;
}

interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export class ChatSession {
  private readonly messages: Message[] = [];

  constructor(private readonly settings: ChatSettings) {
    if (settings.system !== null) this.messages.push({ role: 'system', content: settings.system });
  }

  /**
   * Says something, and gives what comes of it as it comes. What was answered until an abort stays in the conversation.
   * @throws ClusterError where the server refuses or is lost; AbortError
   */
  async *say(content: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    this.messages.push({ role: 'user', content });
    let answer = '';
    try {
      const response = await this.request(signal);
      response.setEncoding('utf8');
      for await (const event of chatEvents(response)) {
        if (event.kind === 'text') answer += event.text;
        yield event;
      }
    } catch (error) {
      if (signal.aborted || error instanceof ClusterError) throw error;
      throw new ClusterError(`the answer broke off: ${errorText(error)}`, { cause: error });
    } finally {
      // A question without an answer would make the next one strange.
      if (answer === '') this.messages.pop();
      else this.messages.push({ role: 'assistant', content: answer });
    }
  }

  private async request(signal: AbortSignal): Promise<IncomingMessage> {
    const { model, key, maxTokens, open } = this.settings;
    const connection = await open();
    const body = JSON.stringify({
      model,
      messages: this.messages,
      stream: true,
      stream_options: { include_usage: true },
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    });
    const request = send({
      method: 'POST',
      path: '/v1/chat/completions',
      createConnection: () => connection,
      signal,
      headers: {
        host: 'localhost',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
    });
    // After the response an abort is reported through its stream.
    request.on('error', () => undefined);
    request.end(body);
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
    if (response.statusCode !== 200)
      throw new ClusterError(refusal(response.statusCode, await text(response)));
    return response;
  }
}

function refusal(status: number | undefined, body: string): string {
  const hint = status === 401 ? ' Give a key with --key-file or LLMSERVICE_API_KEY.' : '';
  try {
    const { error } = JSON.parse(body) as { error?: { message?: string } };
    return `HTTP ${status ?? ''}: ${error?.message ?? body}${hint}`;
  } catch {
    return `HTTP ${status ?? ''}: ${body}${hint}`;
  }
}
