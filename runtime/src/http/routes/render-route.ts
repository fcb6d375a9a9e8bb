// POST chat/completions/render and completions/render: the token ids of the prompts that a request makes, as vLLM's front
// end answers them to routers that find cached prefixes by them. The engine has no part in it.

import type { RequestHandler } from 'express';
import { parseRequest } from '../../request/parse/parse-request.js';
import { prepareGeneration } from '../../request/prepare/prepare-generation.js';
import { LongList } from '../../request/text/long-json.js';
import { recordOf } from '../access/request-record.js';
import { resolveName } from '../replica/served-model.js';
import { newId, type ServerParts } from '../replica/server-parts.js';
import { answerText } from './text-work.js';

/** Of a chat the one prompt, of completions a list. */
const answers = {
  chat: ([only = {}]: readonly object[]): object => only,
  completions: (all: readonly object[]): object => all,
};

export function renderRoute(parts: ServerParts, kind: keyof typeof answers): RequestHandler {
  return (request, response) =>
    answerText(parts, request, response, async ({ model, signal, spend }) => {
      const parsed = parseRequest(kind, request.body, model.defaults, 0n);
      const name = resolveName(parts.names, parsed.model, request);
      const prompts = await Promise.all(
        parsed.prompts.map((source) => prepareGeneration(parsed, source, newId('render-'), model, signal)),
      );
      const kept = prompts.reduce((sum, { toRun }) => sum + toRun.prompt.length, 0);
      // What was cut was read too.
      spend(parsed.keptPromptTokens === null ? kept : Math.max(kept, recordOf(response).bodyTokens));
      return answers[kind](
        prompts.map(({ toRun: { id, prompt } }) => ({
          request_id: id,
          model: name,
          token_ids: new LongList(prompt.length, (index) => prompt[index]),
          features: null,
          stream: parsed.stream,
        })),
      );
    });
}
