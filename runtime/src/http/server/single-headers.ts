// Refuses requests that have a header twice which decides who is asked, or who asks: a proxy before this server may have
// gone by the other one. RFC 9112, section 3.2, says so of Host.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';

const single = ['host', 'authorization', 'x-api-key'];

/** @throws ApiError invalid_request */
export const requireSingleHeaders: RequestHandler = ({ rawHeaders }, _response, next) => {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const doubled = single.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (doubled !== undefined)
    throw ApiError.of('invalid_request', `the request has the header ${doubled} more than once: send one`);
  next();
};
