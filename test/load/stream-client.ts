// One streamed request of a client that costs little: 2,000 of them run in one process beside the server. Events go to a
// callback as they are; the connection is the request's own.

import { request, type IncomingMessage } from 'node:http';

export interface StreamRequest {
  readonly port: number;
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** What follows `data: `. */
  readonly onEvent: (data: string) => void;
}

export class StreamClient {
  /** Zero before the head of the answer has come. */
  status = 0;
  /** The answer's id; empty before its head has come. */
  id = '';
  events = 0;
  /** The whole answer came: [DONE] for a stream. */
  isComplete = false;
  /** The connection is gone. */
  isGone = false;
  /** Resolves once the connection is gone, however it ended. */
  readonly ended: Promise<void>;
  readonly #request: ReturnType<typeof request>;
  readonly #onEvent: (data: string) => void;
  #unread = '';

  constructor({ port, path, body, headers: more, onEvent }: StreamRequest) {
    this.#onEvent = onEvent;
    const text = JSON.stringify(body);
    const headers = { ...more, 'content-length': String(Buffer.byteLength(text)) };
    this.#request = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
    // The end of the connection says enough: what came decides.
    this.#request.on('error', () => undefined).on('response', (response) => this.#read(response));
    this.ended = new Promise((resolve) =>
      this.#request.once('close', () => {
        this.isGone = true;
        resolve();
      }),
    );
    this.#request.end(text);
  }

  /** The client goes away. */
  destroy(): void {
    this.#request.destroy();
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.#request.socket?.pause();
  }

  resume(): void {
    this.#request.socket?.resume();
  }

  #read(response: IncomingMessage): void {
    this.status = response.statusCode ?? 0;
    this.id = String(response.headers['x-request-id'] ?? '');
    response.on('error', () => undefined);
    response.setEncoding('utf8').on('data', (part: string) => {
      const events = (this.#unread + part).split('\n\n');
      this.#unread = events.pop() ?? '';
      for (const event of events) if (event.startsWith('data: ')) this.#hear(event.slice(6));
    });
  }

  #hear(data: string): void {
    if (data === '[DONE]') this.isComplete = true;
    else {
      this.events += 1;
      this.#onEvent(data);
    }
  }
}
