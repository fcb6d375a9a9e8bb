// POST messages/count_tokens and responses/input_tokens: how long the prompt is that the fields make. The engine has no part
// in it.

import type { RequestHandler } from 'express';
import type { Wording } from '../../request/body/api-error.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import { messagesWordings, parseCountTokens } from '../../request/parse/parse-messages.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import { parseResponses, responsesWordings } from '../../request/parse/parse-responses.js';
import { encodePrompt } from '../../request/prepare/prepare-generation.js';
import { recordOf } from '../access/request-record.js';
import { resolveName } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';
import { ownerOf } from '../stored-responses/stored-responses.js';
import { worded } from './answer-route.js';
import { answerText } from './text-work.js';

interface CountProtocol {
  readonly wordings: readonly Wording[];
  /** Members of the answer besides the count. */
  readonly answer: object;
  /**
   * @param key id of the API key that asks; null: none
   * @throws ApiError invalid_request, with every violation
   */
  read(body: unknown, defaults: GenerationDefaults, key: string | null): ApiRequest | Promise<ApiRequest>;
}

export const messagesCount: CountProtocol = {
  wordings: messagesWordings,
  answer: {},
  read: parseCountTokens,
};

export const responsesCount = ({ storedResponses }: ServerParts): CountProtocol => ({
  wordings: responsesWordings,
  answer: { object: 'response.input_tokens' },
  async read(body, defaults, key) {
    const earlier = storedResponses === null ? null : await storedResponses.earlier(ownerOf(key), body);
    return parseResponses(body, defaults, 0n, earlier).parsed;
  },
});

export function countTokensRoute(parts: ServerParts, protocol: CountProtocol): RequestHandler {
  return worded(protocol.wordings, (request, response) =>
    answerText(parts, request, response, async ({ model, signal, spend }) => {
      const { key } = recordOf(response);
      const { model: asked, prompts, tools } = await protocol.read(request.body, model.defaults, key);
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
