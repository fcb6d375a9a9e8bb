// POST messages/count_tokens: how long the prompt is that a message's fields make. Nothing is admitted or queued: the
// engine has no part in it.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { messagesWordings, parseCountTokens } from '../../request/parse/parse-messages.js';
import { encodePrompt } from '../../request/prepare/prepare-generation.js';
import { resolveName } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';

export function countTokensRoute({ lifecycle, names }: ServerParts): RequestHandler {
  return (request, response) =>
    lifecycle.withModel(async (model) => {
      try {
        const { model: asked, prompts, tools } = parseCountTokens(request.body, model.defaults);
        resolveName(names, asked, request);
        const counts = await Promise.all(
          prompts.map((source) => encodePrompt(source, tools, model, 'messages')),
        );
        response.json({ input_tokens: counts.reduce((sum, { length }) => sum + length, 0) });
      } catch (error) {
        throw error instanceof ApiError ? error.worded(messagesWordings) : error;
      }
    });
}
