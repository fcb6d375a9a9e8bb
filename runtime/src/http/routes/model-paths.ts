// Paths with a model's name before OpenAI's, as a gateway forwards them that distinguishes models by path:
// /v1/models/NAME/openai/v1/… is /openai/v1/… for each served name.

import type { RequestHandler } from 'express';
import type { ModelNames } from '../replica/served-model.js';

const ofModel = /^\/v1\/models\/([^/?]+)(\/openai\/v1\/.*)$/;

export function modelPaths({ name, aliases }: ModelNames): RequestHandler {
  const served = new Set([name, ...aliases].map(encodeURIComponent));
  return (request, _response, next) => {
    const [, asked = '', path] = ofModel.exec(request.url) ?? [];
    // One that is not served finds no route.
    if (path !== undefined && served.has(asked)) request.url = path;
    next();
  };
}
