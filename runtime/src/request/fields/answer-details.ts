// What an answer is to report with its text: log probabilities, the prompt, token ids.

import { boolean, is, never } from '../body/field-schemas.js';
import { openAi, type FieldTable, type TableValues, type ValuesOf } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';
import { omitsReasoning, type ThinkingFields } from './thinking.js';

/** vLLM's -1 asks for the whole vocabulary, of each token. */
const alternatives = <const Instead extends string>(instead: Instead) =>
  ({
    type: 'integer',
    minimum: 0,
    maximum: 20,
    description: `0 to 20 alternatives are reported, and never the whole vocabulary (-1): send ${instead}`,
  }) as const;
const ofAnswers = alternatives(
  '20 at most, or on chat and completions the ids in question as logprob_token_ids',
);

export const detailFields = {
  prompt_logprobs: { routes: openAi, schema: alternatives('20 at most') },
  return_token_ids: { routes: openAi, schema: boolean },
  return_tokens_as_token_ids: { routes: openAi, schema: boolean },
  include_reasoning: { routes: ['chat'], schema: boolean },
} as const satisfies FieldTable;

export const alternativesFields = {
  top_logprobs: { routes: ['chat', 'responses'], schema: ofAnswers },
} as const satisfies FieldTable;

/** chat: a switch with top_logprobs; completions: the number itself. */
export const logprobsOf = {
  chat: { logprobs: boolean },
  completions: { logprobs: ofAnswers },
} as const;

const elsewhere =
  'log probabilities are reported by /v1/completions (logprobs: 5) and by /v1/chat/completions (logprobs: true, top_logprobs: 5)';

/** Of routes that report none, and of those that call them otherwise. */
export const unreportedDetails = {
  logprobs: { ...is(false), description: elsewhere },
  top_logprobs: { ...is(0), description: elsewhere },
  prompt_logprobs: { ...never, description: elsewhere },
} as const;

/** Of completions. */
export const echoField = { echo: boolean } as const;

type DetailFields = ThinkingFields &
  TableValues<typeof detailFields & typeof alternativesFields> &
  ValuesOf<typeof echoField> & { readonly logprobs?: boolean | number | undefined };

export interface AnswerDetails {
  /** Alternatives to report per token of the answer; null: no log probabilities. */
  readonly logprobs: number | null;
  /** Alternatives to report per token of the prompt, vLLM's prompt_logprobs; null: not asked for. */
  readonly promptLogprobs: number | null;
  /** The prompt goes before each answer, with its log probabilities where the answer has them. */
  readonly echo: boolean;
  /** Ids of the prompt and of what was generated, the one that ended it included. */
  readonly tokenIds: boolean;
  /** Log probabilities name tokens by id, `token_id:5`, and not by text. */
  readonly tokensAsIds: boolean;
  /** The model reasons, and the client does not get it. */
  readonly omitsReasoning: boolean;
}

/** Where the request asks for none. */
export const noDetails: AnswerDetails = {
  logprobs: null,
  promptLogprobs: null,
  echo: false,
  tokenIds: false,
  tokensAsIds: false,
  omitsReasoning: false,
};

export function readDetails(fields: DetailFields): AnswerDetails {
  return {
    logprobs: readLogprobs(fields),
    promptLogprobs: fields.prompt_logprobs ?? null,
    echo: fields.echo === true,
    tokenIds: fields.return_token_ids === true,
    tokensAsIds: fields.return_tokens_as_token_ids === true,
    omitsReasoning: omitsReasoning(fields),
  };
}

export function violationsOfAlternatives({ top_logprobs: count = 0, logprobs }: DetailFields): Violation[] {
  return count > 0 && logprobs !== true ? [violationAt('top_logprobs', 'needs logprobs: true')] : [];
}

export function violationsOfDetails(
  fields: DetailFields & { readonly stream?: boolean | undefined },
): Violation[] {
  if (fields.prompt_logprobs === undefined || fields.stream !== true) return [];
  return [violationAt('prompt_logprobs', 'needs stream: false; a stream has echo')];
}

/** Whether the prompt's own tokens have to be scored. */
export function scoresPrompt({ promptLogprobs, echo, logprobs }: AnswerDetails): boolean {
  return promptLogprobs !== null || (echo && logprobs !== null);
}

/**
 * Alternatives that the engine has to report per token; null: no log probabilities at all.
 * @param ranked whether answers are ranked by their log probability
 */
export function alternativesOf({ logprobs, promptLogprobs }: AnswerDetails, ranked: boolean): number | null {
  if (logprobs === null && promptLogprobs === null) return ranked ? 0 : null;
  return Math.max(logprobs ?? 0, promptLogprobs ?? 0);
}

function readLogprobs({ logprobs, top_logprobs = 0 }: DetailFields): number | null {
  if (typeof logprobs === 'number') return logprobs;
  return logprobs === true ? top_logprobs : null;
}
