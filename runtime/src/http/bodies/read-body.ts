// A request's body as bytes, unpacked and held within the budget of all bodies while it comes. A body that is refused is
// answered at once: what still comes of it is read and forgotten. The parts that it came in stay apart: to join megabytes
// holds up the event loop.

import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ApiError } from '../../request/body/api-error.js';
import type { HeldBody } from './body-budget.js';

/** What a decoder holds in addition to its output: its window. */
const decoders: Readonly<Record<string, { readonly make: () => Transform; readonly windowBytes: number }>> = {
  gzip: { make: createGunzip, windowBytes: 2 ** 15 },
  deflate: { make: createInflate, windowBytes: 2 ** 15 },
  br: { make: createBrotliDecompress, windowBytes: 2 ** 24 },
};

/**
 * @param body opened for this request
 * @param cut aborted with an ApiError where the body is not waited for any more
 * @throws ApiError invalid_request, request_too_large, request_aborted, and those of `HeldBody` and `cut`
 */
export async function readBody(
  request: IncomingMessage,
  body: HeldBody,
  maxBytes: number,
  cut: AbortSignal,
): Promise<readonly Buffer[]> {
  const source = unpacked(request, body, maxBytes);
  try {
    return await collect(request, source, body, maxBytes, cut);
  } finally {
    if (source !== request) {
      request.unpipe();
      source.destroy();
    }
    request.resume();
  }
}

function unpacked(request: IncomingMessage, body: HeldBody, maxBytes: number): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') {
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > maxBytes) throw tooLarge(String(length), maxBytes);
    return request;
  }
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decoder === undefined) {
    const known = ['identity', ...Object.keys(decoders)].join(', ');
    const message = `a body in the encoding ${encoding} is not read; send it in one of ${known}`;
    throw ApiError.of('invalid_request', message);
  }
  body.take(decoder.windowBytes);
  return request.pipe(decoder.make());
}

function collect(
  request: IncomingMessage,
  source: Readable,
  body: HeldBody,
  maxBytes: number,
  cut: AbortSignal,
): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      parts.length = 0;
      source.removeAllListeners('data');
      reject(error);
    };
    // What is packed may unpack to nothing for ever.
    let packedBytes = 0;
    request.on('data', ({ length }: Buffer) => {
      body.came(length);
      packedBytes += length;
      if (packedBytes > maxBytes) fail(tooLarge('more', maxBytes));
    });
    source.on('data', (part: Buffer) => {
      bytes += part.length;
      try {
        if (bytes > maxBytes) throw tooLarge('more', maxBytes);
        body.take(part.length);
        parts.push(part);
      } catch (error) {
        fail(error as Error);
      }
    });
    source.once('end', () => {
      body.arrived();
      resolve(parts);
    });
    if (source !== request)
      source.on('error', ({ message }) =>
        fail(ApiError.of('invalid_request', `the body cannot be read: ${message}`)),
      );
    const gone = (): void => fail(ApiError.of('request_aborted', 'the client went away'));
    request.once('error', gone);
    request.once('close', () => {
      if (!request.complete) gone();
    });
    cut.addEventListener('abort', () => fail(cut.reason as Error), { once: true });
  });
}

function tooLarge(size: string, maxBytes: number): ApiError {
  return ApiError.of('request_too_large', `the body has ${size} bytes, and the limit is ${String(maxBytes)}`);
}
