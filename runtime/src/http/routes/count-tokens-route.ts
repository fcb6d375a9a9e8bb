// POST messages/count_tokens: how long the prompt is that a message's fields make. The engine has no part in it.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { messagesWordings, parseCountTokens } from '../../request/parse/parse-messages.js';
import { encodePrompt } from '../../request/prepare/prepare-generation.js';
import { resolveName } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerText } from './text-work.js';

export function countTokensRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    try {
      await answerText(parts, request, response, async ({ model, signal, spend }) => {
        const { model: asked, prompts, tools } = parseCountTokens(request.body, model.defaults);
        resolveName(parts.names, asked, request);
        const how = { maxPromptTokens: null, named: 'the prompt', signal };
        const counts = await Promise.all(
          prompts.map((source) => encodePrompt(source, tools, model, 'messages', how)),
        );
        const tokens = counts.reduce((sum, { length }) => sum + length, 0);
        spend(tokens);
        return { input_tokens: tokens };
      });
    } catch (error) {
      throw error instanceof ApiError ? error.worded(messagesWordings) : error;
    }
  };
}
