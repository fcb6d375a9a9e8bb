// POST messages/count_tokens and responses/input_tokens: how long the prompt is that the fields make. The engine has no part
// in it.

import type { RequestHandler, Response } from 'express';
import type { Wording } from '../../request/body/api-error.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import { messagesWordings, parseCountTokens } from '../../request/parse/parse-messages.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import { parseResponses, responsesWordings } from '../../request/parse/parse-responses.js';
import { encodePrompt } from '../../request/prepare/prepare-generation.js';
import { resolveName } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';
import { worded } from './answer-route.js';
import { askerOf } from './asker-of.js';
import { answerText } from './text-work.js';

interface CountProtocol {
  readonly wordings: readonly Wording[];
  /** Members of the answer besides the count. */
  readonly answer: object;
  /** @throws ApiError invalid_request, with every violation */
  read(body: unknown, defaults: GenerationDefaults, response: Response): ApiRequest | Promise<ApiRequest>;
}

export const messagesCount: CountProtocol = {
  wordings: messagesWordings,
  answer: {},
  read: parseCountTokens,
};

export const responsesCount = (parts: ServerParts): CountProtocol => ({
  wordings: responsesWordings,
  answer: { object: 'response.input_tokens' },
  async read(body, defaults, response) {
    const earlier = await parts.storedResponses?.earlier(askerOf(parts, response), body);
    return parseResponses(body, defaults, 0n, earlier ?? null).parsed;
  },
});

export function countTokensRoute(parts: ServerParts, protocol: CountProtocol): RequestHandler {
  return worded(protocol.wordings, (request, response) =>
    answerText(parts, request, response, async ({ model, signal, spend }) => {
      const { model: asked, prompts, tools } = await protocol.read(request.body, model.defaults, response);
      resolveName(parts.names, asked, request);
      const how = { maxPromptTokens: null, named: 'the prompt', signal };
      const counts = await Promise.all(
        prompts.map((source) => encodePrompt(source, tools, model, 'messages', how)),
      );
      const tokens = counts.reduce((sum, { length }) => sum + length, 0);
      spend(tokens);
      return { ...protocol.answer, input_tokens: tokens };
    }),
  );
}
