// Bounds what an S3 endpoint, which belongs to a tenant, may answer where the SDK parses the whole answer: listings and
// errors. Files are given as streams and bounded where they are read.

import { pipeline, Transform, type Readable, type TransformCallback } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/** Files of one page of a listing. */
export const pageFiles = 250;
/** Of such a page, whose names have at most 1,024 bytes each; more than any error. */
const maxAnswerBytes = 512 * 1024;

class TooLongError extends Error {
  override readonly name = 'AnswerTooLong';
  constructor() {
    super(
      `the endpoint answered with more than ${maxAnswerBytes} bytes where a listing or an error is expected`,
    );
  }
}

interface Answer {
  readonly statusCode: number;
  body?: unknown;
}

/** From now on the client's requests fail where an answer that is no file is longer than such answers are. */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        const result = await next(request);
        const answer = result.response as Answer;
        const isFile = commandName === 'GetObjectCommand' && answer.statusCode < 300;
        if (!isFile && answer.body !== undefined) answer.body = bounded(answer.body as Readable);
        return result;
      },
    // Between the network and what parses.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  );
}

function bounded(body: Readable): Readable {
  let count = 0;
  const limit = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      count += chunk.byteLength;
      if (count > maxAnswerBytes) done(new TooLongError());
      else done(null, chunk);
    },
  });
  // An error reaches whoever reads.
  return pipeline(body, limit, () => undefined);
}
