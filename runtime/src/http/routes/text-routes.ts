// POST tokenize, detokenize and apply-template: what a text or a conversation becomes before it is generated from, and
// token ids back as text. The engine has no part in it.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { maxTokens } from '../../request/body/field-schemas.js';
import { encodeParts, encodeText } from '../../request/prepare/encode-text.js';
import { parseDetokenize, parseTemplate, parseTokenize } from '../../request/parse/parse-tokenize.js';
import { renderMessages, renderParts } from '../../request/prepare/render-messages.js';
import { LongList } from '../../request/text/long-json.js';
import { resolveName } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerText } from './text-work.js';

/** As a token has in plain English: a rendered text is not encoded to be charged. */
const charsPerToken = 4;

export function tokenizeRoute(parts: ServerParts): RequestHandler {
  return (request, response) =>
    answerText(parts, request, response, async ({ model, signal, spend }) => {
      const parsed = parseTokenize(request.body, model.defaults.thinks);
      resolveName(parts.names, parsed.model, request);
      const { source, tools, addSpecialTokens } = parsed;
      const param = source.kind === 'messages' ? 'messages' : 'prompt';
      const ids =
        source.kind === 'messages'
          ? await encodeParts(
              await renderParts(source, model, tools?.given, signal),
              addSpecialTokens,
              model,
              param,
              signal,
            )
          : await encodeText(source, model, param, signal);
      spend(ids.length);
      if (ids.length > maxTokens) {
        const message = `the text has ${String(ids.length)} tokens, and this route takes ${String(maxTokens)}: send it in parts`;
        throw ApiError.of('invalid_request', message, { param });
      }
      const tokens = Array.from(ids);
      return {
        count: tokens.length,
        max_model_len: model.maxModelLen,
        tokens,
        token_strs: parsed.withTexts
          ? new LongList(tokens.length, (index) => model.tokenizer.tokenName(tokens[index] ?? 0))
          : null,
      };
    });
}

export function detokenizeRoute(parts: ServerParts): RequestHandler {
  return (request, response) =>
    answerText(parts, request, response, async ({ model, signal, spend }) => {
      const { model: asked, source } = parseDetokenize(request.body);
      resolveName(parts.names, asked, request);
      const ids = await encodeText(source, model, 'tokens', signal);
      spend(ids.length);
      return { prompt: await model.tokenizer.decodeLong(ids, { skipSpecialTokens: false, signal }) };
    });
}

export function tokenizerInfoRoute({ lifecycle }: ServerParts): RequestHandler {
  return (_request, response) => {
    response.json(lifecycle.requireServing().model.tokenizerInfo);
  };
}

export function applyTemplateRoute(parts: ServerParts): RequestHandler {
  return (request, response) =>
    answerText(parts, request, response, async ({ model, signal, spend }) => {
      const { model: asked, source, tools } = parseTemplate(request.body, model.defaults.thinks);
      resolveName(parts.names, asked, request);
      const prompt = await renderMessages(source, model, tools?.given, signal);
      spend(Math.ceil(prompt.length / charsPerToken));
      return { prompt };
    });
}
