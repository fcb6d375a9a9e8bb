// What a request says of single tokens, and the same in the model's ids: OpenAI's logit_bias, vLLM's allowed_token_ids,
// bad_words, min_tokens and thinking_token_budget.

import type { ReasoningBudget, TokenRules } from '@llmservice/native';
import { ApiError } from '../body/api-error.js';
import { encodeString, type TextModel } from './encode-string.js';
import { invalidRequest, type Fields, type Violation } from '../body/validate-body.js';
import { maxTokensField } from './max-tokens.js';

export interface AskedRules {
  /** Bias by id. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** Ascending; empty: all. */
  readonly allowedIds: readonly number[];
  readonly badWords: readonly string[];
  readonly minTokens: number;
}

const noRules: AskedRules = { logitBias: new Map(), allowedIds: [], badWords: [], minTokens: 0 };

/** Null: the request says nothing. @throws ApiError invalid_request */
export function readRules(fields: Fields): AskedRules | null {
  const bias = Object.entries((fields['logit_bias'] ?? {}) as Readonly<Record<string, number>>);
  const odd = bias.find(([id]) => !/^(0|[1-9]\d{0,9})$/.test(id));
  if (odd !== undefined) {
    const message = `logit_bias has the key ${JSON.stringify(odd[0])}; its keys are token ids, such as "50256"`;
    throw invalidRequest([{ param: 'logit_bias', message }]);
  }
  const rules: AskedRules = {
    logitBias: new Map(bias.map(([id, value]) => [Number(id), value])),
    allowedIds: [...new Set(fields['allowed_token_ids'] as readonly number[] | undefined)].sort(
      (a, b) => a - b,
    ),
    badWords: (fields['bad_words'] as readonly string[] | undefined) ?? [],
    minTokens: (fields['min_tokens'] as number | undefined) ?? 0,
  };
  const { logitBias, allowedIds, badWords, minTokens } = rules;
  return logitBias.size + allowedIds.length + badWords.length + minTokens === 0 ? null : rules;
}

/** @param maxTokens null: what is left of the context */
export function violationsOfRules(fields: Fields, maxTokens: number | null, hasFormat: boolean): Violation[] {
  const violations: Violation[] = [];
  const minTokens = fields['min_tokens'] as number | undefined;
  if (minTokens !== undefined && maxTokens !== null && minTokens > maxTokens)
    violations.push({
      param: 'min_tokens',
      message: `min_tokens must be at most ${maxTokensField(fields)}, which is ${String(maxTokens)}`,
    });
  for (const param of ['min_tokens', 'allowed_token_ids', 'bad_words']) {
    const value = fields[param];
    const asks = value !== undefined && value !== 0 && !(Array.isArray(value) && value.length === 0);
    if (hasFormat && asks)
      violations.push({
        param,
        message: `${param} and structured output exclude each other: together they may leave no token`,
      });
  }
  return violations;
}

/** @throws ApiError invalid_request about ids that the model does not have */
export async function tokenRules(
  asked: AskedRules | null,
  reasoning: ReasoningBudget | null,
  model: TextModel,
  signal?: AbortSignal,
): Promise<TokenRules | null> {
  if (asked === null && reasoning === null) return null;
  const { logitBias, allowedIds, badWords, minTokens } = asked ?? noRules;
  const { vocabSize } = model;
  checkIds('logit_bias', [...logitBias.keys()], vocabSize);
  checkIds('allowed_token_ids', allowedIds, vocabSize);
  const banned = await bannedSequences(badWords, model, signal);
  let end = 0;
  return {
    biased: Int32Array.from(logitBias.keys()),
    biases: Float32Array.from(logitBias.values()),
    allowed: Int32Array.from(allowedIds),
    banned: Int32Array.from(banned.flatMap((ids) => [...ids])),
    bannedEnds: Int32Array.from(banned, (ids) => (end += ids.length)),
    minTokens,
    reasoning,
  };
}

function checkIds(param: string, ids: readonly number[] | Int32Array, vocabSize: number): void {
  const unknown = ids.find((id) => id >= vocabSize);
  if (unknown === undefined) return;
  const message = `${param} has the token id ${String(unknown)}, but the model's vocabulary ends at ${String(vocabSize - 1)}`;
  throw ApiError.of('invalid_request', message, { param });
}

/** The tokens of each word, as it stands at the beginning of a text and after a space: most vocabularies distinguish them. */
async function bannedSequences(
  words: readonly string[],
  model: TextModel,
  signal: AbortSignal | undefined,
): Promise<Int32Array[]> {
  const spellings = words.flatMap((word) => {
    const bare = word.trimStart();
    return bare === '' ? [word] : [bare, ` ${bare}`];
  });
  const sequences = await Promise.all(
    [...new Set(spellings)].map((text) => encodeString(text, false, model, 'bad_words', signal)),
  );
  return sequences.filter(({ length }) => length > 0);
}
