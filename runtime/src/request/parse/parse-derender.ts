// Bodies of vLLM's derender routes as typed values: the answers of its tokens-in, tokens-out engine, each with what is known
// of its prompt. Pure; the request that they answer is read as the route reads it that generates.

import type { TokenLogprobs } from '../../engine/protocol.js';
import type { Fields } from '../body/field-table.js';
import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { readModel } from '../fields/scheduling.js';
import type { BodyOf } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';

export interface GeneratedChoice {
  readonly tokenIds: readonly number[];
  /** Null: it was cut, and nobody says by what. */
  readonly finish: 'stop' | 'length' | 'repetition' | null;
  /** Of the first tokens; null: the engine was not asked. */
  readonly logprobs: readonly TokenLogprobs[] | null;
}

/** The answers to one prompt. */
export interface GeneratedAnswer {
  readonly place: string;
  /** Null: it has none. */
  readonly id: string | null;
  /** By their index. */
  readonly choices: readonly GeneratedChoice[];
  readonly promptTokens: number;
  /** Null: the client did not say. */
  readonly promptIds: readonly number[] | null;
  /** As vLLM's answers have them; null: not asked for. */
  readonly promptLogprobs: readonly (Fields | null)[] | null;
  /** What of the engine's answer stands in that of the client as it is. */
  readonly passed: Fields;
}

export interface DerenderRequest {
  readonly model: string | null;
  readonly answers: readonly GeneratedAnswer[];
  /** The request that they answer, and the field that it came as; null: the client did not say. */
  readonly asked: { readonly body: Fields; readonly place: string } | null;
}

type RawAnswer = BodyOf<'derenderChat'>['generate_response'];
type RawChoice = RawAnswer['choices'][number];
type RawScored = NonNullable<NonNullable<RawChoice['logprobs']>['content']>[number];

const passedOn = ['kv_transfer_params', 'ec_transfer_params', 'metrics'] as const;

export const parseDerender = {
  /** @throws ApiError invalid_request, with every violation */
  derenderChat(body: unknown): DerenderRequest {
    const fields = validateBody('derenderChat', body);
    const { generate_response: given, prompt_tokens: count, prompt_token_ids: ids, chat_request } = fields;
    const answer = readAnswer(given, 'generate_response', count, ids);
    return { model: readModel(fields), answers: [answer], asked: askedAs(chat_request, 'chat_request') };
  },

  /** @throws ApiError invalid_request, with every violation */
  derenderCompletions(body: unknown): DerenderRequest {
    const fields = validateBody('derenderCompletions', body);
    const { generate_responses: given, completion_request } = fields;
    const violations = (['prompt_tokens', 'prompt_token_ids'] as const).flatMap((name) => {
      const entries = fields[name]?.length ?? given.length;
      if (entries === given.length) return [];
      return violationAt(
        name,
        `has ${String(entries)} entries, and generate_responses ${String(given.length)}`,
      );
    });
    if (violations.length > 0) throw invalidRequest(violations);
    const answers = given.map((each, index) =>
      readAnswer(
        each,
        `generate_responses.${String(index)}`,
        fields.prompt_tokens?.[index],
        fields.prompt_token_ids?.[index],
      ),
    );
    return { model: readModel(fields), answers, asked: askedAs(completion_request, 'completion_request') };
  },
} as const;

const askedAs = (body: object | undefined, place: string): DerenderRequest['asked'] =>
  body === undefined ? null : { body: body as Fields, place };

function readAnswer(
  given: RawAnswer,
  place: string,
  promptTokens: number | undefined,
  promptIds: readonly number[] | null | undefined,
): GeneratedAnswer {
  const choices = given.choices.toSorted((a, b) => a.index - b.index);
  const violations = choices.flatMap((choice, index) => {
    const at = `${place}.choices.${String(given.choices.indexOf(choice))}`;
    const misplaced = choice.index === index ? [] : [violationAt(`${at}.index`, `must be ${String(index)}`)];
    return [...misplaced, ...violationsOfLogprobs(choice, at)];
  });
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    place,
    id: given.request_id ?? null,
    choices: choices.map(readChoice),
    promptTokens: promptTokens ?? given.usage?.prompt_tokens ?? 0,
    promptIds: promptIds ?? given.prompt_token_ids ?? null,
    promptLogprobs: given.prompt_logprobs ?? null,
    passed: Object.fromEntries(
      passedOn.flatMap((name) => (given[name] == null ? [] : [[name, given[name]]])),
    ),
  };
}

function violationsOfLogprobs({ token_ids: ids, logprobs }: RawChoice, place: string): Violation[] {
  const content = logprobs?.content ?? [];
  if (content.length > ids.length) {
    const rule = `has ${String(content.length)} entries, and token_ids ${String(ids.length)}`;
    return [violationAt(`${place}.logprobs.content`, rule)];
  }
  const wrong = content.findIndex((entry, index) => idOf(entry) !== ids[index]);
  if (wrong === -1) return [];
  return [
    violationAt(`${place}.logprobs.content.${String(wrong)}`, `is not of the token ${String(ids[wrong])}`),
  ];
}

function readChoice({
  token_ids: tokenIds,
  finish_reason: finish = 'stop',
  logprobs,
}: RawChoice): GeneratedChoice {
  const scored = logprobs?.content?.map((entry): TokenLogprobs => {
    const top = (entry.top_logprobs ?? []).flatMap(({ logprob, ...named }) => {
      const token = idOf(named);
      return token === null ? [] : [{ token, logprob }];
    });
    // The engine's list begins with the token itself, wherever it ranks.
    return { logprob: entry.logprob, top: top.toSorted((a, b) => b.logprob - a.logprob) };
  });
  return { tokenIds, finish, logprobs: scored ?? null };
}

/** Null: it has none. */
function idOf({ token_id: id, token }: Pick<RawScored, 'token_id' | 'token'>): number | null {
  return id ?? (token === undefined ? null : Number(token.slice('token_id:'.length)));
}
