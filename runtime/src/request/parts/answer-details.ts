// What an answer is to report with its text: log probabilities, the prompt, token ids, running usage.

import type { GenerationKind } from '../body/request-fields.js';
import type { Fields, Violation } from '../body/validate-body.js';

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
  /** Each chunk of a stream reports the usage so far. */
  readonly continuousUsage: boolean;
}

export function readDetails(kind: GenerationKind, fields: Fields): AnswerDetails {
  const options = fields['stream_options'] as
    { readonly continuous_usage_stats?: boolean | null } | undefined;
  return {
    logprobs: readLogprobs(kind, fields),
    promptLogprobs: (fields['prompt_logprobs'] as number | undefined) ?? null,
    echo: fields['echo'] === true,
    tokenIds: fields['return_token_ids'] === true,
    tokensAsIds: fields['return_tokens_as_token_ids'] === true,
    continuousUsage: options?.continuous_usage_stats === true,
  };
}

export function violationsOfDetails(fields: Fields): Violation[] {
  if (fields['prompt_logprobs'] === undefined || fields['stream'] !== true) return [];
  return [{ param: 'prompt_logprobs', message: 'prompt_logprobs needs stream: false; a stream has echo' }];
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

/** chat: logprobs is a switch with top_logprobs; completions: it is the number itself. */
function readLogprobs(kind: GenerationKind, fields: Fields): number | null {
  if (kind === 'completions') return (fields['logprobs'] as number | undefined) ?? null;
  return fields['logprobs'] === true ? ((fields['top_logprobs'] as number | undefined) ?? 0) : null;
}
