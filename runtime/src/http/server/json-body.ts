// What reads the bodies of requests: JSON, whatever their content type says, since clients such as curl leave it out or
// wrong.

import express, { type RequestHandler } from 'express';
import { JsonBounds } from '../../request/body/json-bounds.js';

/** A body that was read and is not taken; the error handler knows errors of express's reader by `type` and `status`. */
class BodyRefused extends Error {
  readonly status = 400;

  constructor(
    readonly type: 'body.refused' | 'charset.unsupported',
    message: string,
  ) {
    super(message);
  }
}

export function jsonBody(mostBytes: number): RequestHandler {
  return express.json({
    limit: mostBytes,
    type: () => true,
    verify: (_request, _response, body, charset) => {
      if (charset !== 'utf-8')
        throw new BodyRefused('charset.unsupported', `a body in ${charset} is not read; send it in UTF-8`);
      const excess = new JsonBounds().excessOf(body);
      if (excess !== null) throw new BodyRefused('body.refused', `the body ${excess}`);
    },
  });
}
