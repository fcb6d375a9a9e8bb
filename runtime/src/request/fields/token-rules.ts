// What a request says of single tokens, and the same in the model's ids: OpenAI's logit_bias, vLLM's allowed_token_ids,
// bad_words, min_tokens and logprob_token_ids.

import type { ReasoningBudget, TokenRules } from '@llmservice/native';
import { tokenIds } from '../body/field-schemas.js';
import { all, openAi, type FieldTable, type TableValues } from '../body/field-table.js';
import { firstOf, invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { encodeString, type TextModel } from './encode-string.js';
import { maxTokensField, type MaxTokensFields } from './max-tokens.js';

export const tokenRuleFields = {
  logit_bias: {
    routes: [...all, 'responses'],
    schema: {
      type: 'object',
      maxProperties: 4096,
      propertyNames: { pattern: '^(0|[1-9][0-9]{0,9})$', description: 'token ids, such as "50256"' },
      additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
    },
  },
  min_tokens: { routes: all, schema: { type: 'integer', minimum: 0, maximum: 2147483647 } },
  allowed_token_ids: { routes: all, schema: tokenIds },
  bad_words: {
    routes: all,
    schema: { type: 'array', maxItems: 256, items: { type: 'string', minLength: 1, maxLength: 1024 } },
  },
  // As many as vLLM takes.
  logprob_token_ids: { routes: openAi, schema: { ...tokenIds, maxItems: 128 } },
} as const satisfies FieldTable;

type RuleFields = TableValues<typeof tokenRuleFields>;

export interface AskedRules {
  /** Bias by id. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** Ascending; empty: all. */
  readonly allowedIds: readonly number[];
  readonly badWords: readonly string[];
  readonly minTokens: number;
  /** Ids, each once, whose log probabilities are reported with each token in place of those of the likeliest; empty: none. */
  readonly reportedIds: readonly number[];
}

const noRules: AskedRules = {
  logitBias: new Map(),
  allowedIds: [],
  badWords: [],
  minTokens: 0,
  reportedIds: [],
};

/** What an answer reports is held until it ends: so many of more ids than alternatives may be (20). */
const maxReported = 131_072;

/** Null: the request says nothing. */
export function readRules(fields: RuleFields): AskedRules | null {
  const bias = Object.entries(fields.logit_bias ?? {});
  const rules: AskedRules = {
    logitBias: new Map(bias.map(([id, value]) => [Number(id), value])),
    allowedIds: [...new Set(fields.allowed_token_ids)].sort((a, b) => a - b),
    badWords: fields.bad_words ?? [],
    minTokens: fields.min_tokens ?? 0,
    reportedIds: [...new Set(fields.logprob_token_ids)],
  };
  const { logitBias, allowedIds, badWords, minTokens, reportedIds } = rules;
  const said = logitBias.size + allowedIds.length + badWords.length + minTokens + reportedIds.length;
  return said === 0 ? null : rules;
}

/** @param maxTokens null: what is left of the context */
export function violationsOfRules(
  fields: RuleFields & MaxTokensFields,
  maxTokens: number | null,
  hasFormat: boolean,
): Violation[] {
  const violations: Violation[] = [];
  const { min_tokens: minTokens } = fields;
  if (minTokens !== undefined && maxTokens !== null && minTokens > maxTokens)
    violations.push(
      violationAt('min_tokens', `must be at most ${maxTokensField(fields)}, which is ${String(maxTokens)}`),
    );
  for (const param of ['min_tokens', 'allowed_token_ids', 'bad_words'] as const) {
    const value = fields[param];
    const asks = value !== undefined && value !== 0 && !(Array.isArray(value) && value.length === 0);
    if (hasFormat && asks)
      violations.push(
        violationAt(param, 'and structured output exclude each other: together they may leave no token'),
      );
  }
  return violations;
}

/**
 * @param maxTokens null: what is left of the context
 * @param answers to each prompt
 */
export function violationsOfReported(
  fields: RuleFields & MaxTokensFields & { readonly logprobs?: boolean | number | undefined },
  maxTokens: number | null,
  answers: number,
): Violation[] {
  const { logprob_token_ids: ids, logprobs = false } = fields;
  if (ids === undefined) return [];
  const refused = (rule: string): Violation[] => [violationAt('logprob_token_ids', rule)];
  if (logprobs === false) return refused('needs logprobs: they are reported with those of the answer');
  if (maxTokens === 0)
    return refused('needs max_tokens above 0: a prompt has no log probabilities of named tokens');
  const most = Math.floor(maxReported / (ids.length * answers));
  if (ids.length <= 20 || (maxTokens !== null && maxTokens <= most)) return [];
  return refused(
    `of ${String(ids.length)} ids needs ${maxTokensField(fields)} of at most ${String(most)}; of up to 20 ids it does not`,
  );
}

/** @throws ApiError invalid_request about ids that the model does not have */
export async function tokenRules(
  asked: AskedRules | null,
  reasoning: ReasoningBudget | null,
  model: TextModel,
  signal?: AbortSignal,
): Promise<TokenRules | null> {
  if (asked === null && reasoning === null) return null;
  const { logitBias, allowedIds, badWords, minTokens, reportedIds } = asked ?? noRules;
  const { vocabSize } = model;
  checkIds('logit_bias', [...logitBias.keys()], vocabSize);
  checkIds('allowed_token_ids', allowedIds, vocabSize);
  checkIds('logprob_token_ids', reportedIds, vocabSize);
  const banned = await bannedSequences(badWords, model, signal);
  let end = 0;
  return {
    biased: Int32Array.from(logitBias.keys()),
    biases: Float32Array.from(logitBias.values()),
    allowed: Int32Array.from(allowedIds),
    banned: Int32Array.from(banned.flatMap((ids) => [...ids])),
    bannedEnds: Int32Array.from(banned, (ids) => (end += ids.length)),
    minTokens,
    reported: Int32Array.from(reportedIds),
    reasoning,
  };
}

/** @throws ApiError invalid_request */
export function checkIds(param: string, ids: readonly number[], vocabSize: number): void {
  const violations = firstOf(unknownIds(param, ids, vocabSize));
  if (violations.length > 0) throw invalidRequest(violations);
}

function* unknownIds(param: string, ids: readonly number[], vocabSize: number): Generator<Violation> {
  const end = `but the model's vocabulary ends at ${String(vocabSize - 1)}`;
  for (const id of ids)
    if (id >= vocabSize) yield violationAt(param, `has the token id ${String(id)}, ${end}`);
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
