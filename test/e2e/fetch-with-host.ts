// The requests of an SDK, sent over node:http: fetch replaces a Host header by the one of the URL.

import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** @param host of the service: by its name the gateway distinguishes services */
export const fetchWithHost =
  (host: string): typeof fetch =>
  async (url, { method = 'GET', headers, body, signal } = {}) => {
    const named = { ...Object.fromEntries(new Headers(headers)), host };
    const sent = request(url as string, { method, headers: named, ...(signal ? { signal } : {}) });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const status = response.statusCode ?? 0;
    return new Response(Readable.toWeb(response) as ReadableStream, {
      status,
      headers: response.headers as Record<string, string>,
    });
  };
