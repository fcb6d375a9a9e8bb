// What is no HTTP request that a route could answer, as the same error body that routes give: broken syntax, headers that
// are too large, requests that do not come to their end.

import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../../request/body/api-error.js';
import { maxHeaderBytes } from './connection-limits.js';
import type { OpenAnswers } from './open-answers.js';

/** Of Node's parser. */
interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

export function answerClientErrors(server: Server, answers: OpenAnswers): void {
  // Without an end to the handshake nobody could read an answer; Node takes such an error for the client's too.
  server.on('tlsClientError', (_error: Error, socket: Duplex) => socket.destroy());
  server.on('clientError', (error: ParseError, socket) => {
    // Behind the first byte of an answer another one would read as its text, and before it as that answer.
    if (!socket.writable || answers.isOwed(socket as Socket)) {
      socket.destroy();
      return;
    }
    // Who breaks the protocol is not waited for: it may never close its half.
    socket.end(rawAnswer(apiErrorOf(error)), () => socket.destroy());
  });
}

function apiErrorOf({ code, reason, message }: ParseError): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ApiError.of(
        'request_timeout',
        'the request did not come to its end in time: send it again whole',
      );
    case 'HPE_HEADER_OVERFLOW':
      return ApiError.of(
        'headers_too_large',
        `the request line and headers have more than ${String(maxHeaderBytes)} bytes`,
      );
    default:
      return ApiError.of('invalid_request', `what was sent is not HTTP/1.1: ${reason ?? message}`);
  }
}

function rawAnswer({ status, body }: ApiError): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${String(Buffer.byteLength(text))}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
