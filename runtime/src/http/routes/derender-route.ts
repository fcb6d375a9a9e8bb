// POST chat/completions/derender and completions/derender, the inverse of render: token ids that another engine generated,
// as the answer that the route itself would have made of them. The engine has no part in it.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import { requireKnown } from '../../request/fields/encode-string.js';
import {
  parseDerender,
  type DerenderRequest,
  type GeneratedAnswer,
} from '../../request/parse/parse-derender.js';
import type { AnswerProtocol, ReadRequest } from '../protocols/answer-protocol.js';
import type { WholeChoice } from '../protocols/answer-shape.js';
import { chatShape } from '../protocols/chat-shape.js';
import { chunkProtocol } from '../protocols/chunk-protocol.js';
import { completionShape } from '../protocols/completion-shape.js';
import { textsOf } from '../protocols/logprob-shapes.js';
import { resolveName, type ServedModel } from '../replica/served-model.js';
import { newId, type ServerParts } from '../replica/server-parts.js';
import { derenderAnswer } from './derender-answer.js';
import { answerText } from './text-work.js';

const kinds = {
  derenderChat: {
    protocol: chunkProtocol('chat', chatShape),
    /** Of an answer without its request, which no marker has to be found in. */
    unasked: { messages: [{ role: 'user', content: '' }] },
  },
  derenderCompletions: {
    protocol: chunkProtocol('completions', completionShape),
    unasked: { prompt: [0] },
  },
} as const;

export function derenderRoute(parts: ServerParts, kind: keyof typeof kinds): RequestHandler {
  const { protocol, unasked } = kinds[kind];
  return (request, response) =>
    answerText(parts, request, response, async (work) => {
      const { model: asked, answers, asked: context } = parseDerender[kind](request.body);
      const { model } = work;
      if (context === null && kind === 'derenderChat') requireNoMarkers(model);
      const { parsed, writer } = await readContext(
        protocol,
        context ?? { body: unasked, place: '' },
        model.defaults,
      );
      for (const name of [asked, parsed.model]) resolveName(parts.names, name, request);
      requireFit(answers, model);
      const choices: WholeChoice[] = [];
      for (const [index, answer] of answers.entries()) {
        const source = parsed.prompts[context === null ? 0 : index];
        const read = await derenderAnswer(
          answer,
          { request: parsed, source },
          { ...work, turns: parts.turns },
        );
        choices.push(...read);
      }
      const head = {
        id: answers[0]?.id ?? newId(protocol.idPrefix),
        created: Math.floor(Date.now() / 1000),
        model: resolveName(parts.names, asked ?? parsed.model, request),
      };
      const whole = await writer(head, textsOf(model.tokenizer, parsed)).whole(choices);
      return { ...whole, ...passedOf(answers) };
    });
}

/** @throws ApiError invalid_request: what of the text is reasoning or a call depends on the request */
function requireNoMarkers({ think, toolDialect, harmony }: ServedModel): void {
  if (think === null && toolDialect === null && harmony === null) return;
  const rule = 'is required: it says what of the text is reasoning and what are calls of tools';
  throw invalidRequest([violationAt('chat_request', rule)]);
}

/** @throws ApiError invalid_request, with every violation */
async function readContext(
  protocol: AnswerProtocol,
  { body, place }: NonNullable<DerenderRequest['asked']>,
  defaults: GenerationDefaults,
): Promise<ReadRequest> {
  try {
    const read = await protocol.read(body, defaults, 0n);
    if (!read.parsed.details.echo) return read;
    throw invalidRequest([
      violationAt('echo', 'is not supported here: the answers have what was generated alone'),
    ]);
  } catch (error) {
    throw error instanceof ApiError ? error.within(place) : error;
  }
}

/** @throws ApiError invalid_request */
function requireFit(answers: readonly GeneratedAnswer[], { vocabSize, maxModelLen }: ServedModel): void {
  for (const { place, choices, promptIds } of answers) {
    requireKnown(Int32Array.from(promptIds ?? []), vocabSize, 'prompt_token_ids');
    choices.forEach(({ tokenIds, logprobs }, index) => {
      const at = `${place}.choices.${String(index)}`;
      if (tokenIds.length > maxModelLen) {
        const rule = `has ${String(tokenIds.length)} tokens, and the context ${String(maxModelLen)}`;
        throw invalidRequest([violationAt(`${at}.token_ids`, rule)]);
      }
      requireKnown(Int32Array.from(tokenIds), vocabSize, `${at}.token_ids`);
      const named = logprobs?.flatMap(({ top }) => top.map(({ token }) => token)) ?? [];
      requireKnown(Int32Array.from(named), vocabSize, `${at}.logprobs`);
    });
  }
}

/** As vLLM's: what answers to several prompts do not agree on is left out. */
function passedOf(answers: readonly GeneratedAnswer[]): object {
  const [first] = answers;
  return Object.fromEntries(
    Object.entries(first?.passed ?? {}).filter(([name, value]) =>
      answers.every(({ passed }) => JSON.stringify(passed[name]) === JSON.stringify(value)),
    ),
  );
}
