// Requests as clients send them: to the gateway's address, with the service's name in the Host header, and at the port that it
// names, if any. node:http is used because fetch does not let a program choose Host.

import {
  request as send,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { once } from 'node:events';
import { nodeAddress } from './cluster.js';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface StreamEvent {
  readonly atMs: number;
  /** What follows `data: `. */
  readonly data: string;
}

async function open(
  host: string,
  path: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
): Promise<{ request: ClientRequest; response: IncomingMessage }> {
  const request = send({
    host: nodeAddress,
    port: host.split(':')[1] ?? 80,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: { host, 'content-type': 'application/json', ...more },
    agent: false,
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  return { request, response };
}

/** @param more headers of the request */
export async function call(
  host: string,
  path: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { response } = await open(host, path, body, more);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, body: text, headers: response.headers };
}

/**
 * The server-sent events of an answer, each when it arrives. Leaving the loop closes the connection.
 * @throws what was answered instead, where it is no 200
 */
export async function* stream(host: string, path: string, body: object): AsyncGenerator<StreamEvent> {
  const { request, response } = await open(host, path, { ...body, stream: true });
  let pending = '';
  try {
    if (response.statusCode !== 200) {
      for await (const chunk of response) pending += String(chunk);
      throw new Error(`${String(response.statusCode)} at ${new Date().toISOString()}: ${pending}`);
    }
    for await (const chunk of response) {
      pending += String(chunk);
      const events = pending.split('\n\n');
      pending = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/ms.exec(event)?.[1];
        if (data !== undefined) yield { atMs: performance.now(), data };
      }
    }
  } finally {
    request.destroy();
  }
}

export const chatPath = '/openai/v1/chat/completions';

interface ChatBody {
  readonly model: string;
  readonly messages: { readonly role: 'user'; readonly content: string }[];
  readonly max_tokens: number;
  readonly temperature: number;
}

export const chatBody = (content: string, more: object = {}): ChatBody => ({
  model: 'demo',
  messages: [{ role: 'user', content }],
  max_tokens: 48,
  temperature: 0,
  ...more,
});
