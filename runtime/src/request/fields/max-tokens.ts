// How many tokens an answer may have, by the name that the client knows it by, and how many of its prompt are kept.

import {
  all,
  templated,
  type FieldTable,
  type GenerationKind,
  type TableValues,
} from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';

export const maxTokensFields = {
  max_tokens: { routes: [...all, 'messages'], schema: { type: 'integer', minimum: 1 } },
  max_completion_tokens: { routes: templated, schema: { type: 'integer', minimum: 1 } },
} as const satisfies FieldTable;

export const truncationFields = {
  // -1, as in vLLM: as many as the context holds.
  truncate_prompt_tokens: { routes: all, schema: { type: 'integer', minimum: -1 } },
  // Where tokens are left out.
  truncation_side: { routes: all, schema: { enum: ['left', 'right'] } },
} as const satisfies FieldTable;

type TruncationFields = TableValues<typeof truncationFields>;

/** Of a prompt as many tokens are kept, or as many as leave room for the answer; null: none is left out. */
export type KeptPromptTokens = number | 'context' | null;

export function readKeptTokens({ truncate_prompt_tokens: kept }: TruncationFields): KeptPromptTokens {
  return kept === -1 ? 'context' : (kept ?? null);
}

export function violationsOfTruncation({ truncate_prompt_tokens: kept }: TruncationFields): Violation[] {
  return kept === 0
    ? [violationAt('truncate_prompt_tokens', 'must be at least 1, or -1 for the context')]
    : [];
}

/** Of completions. 0: the prompt alone, echoed. */
export const maxTokensOrNone = { max_tokens: { type: 'integer', minimum: 0 } } as const;

export type MaxTokensFields = TableValues<typeof maxTokensFields>;

/** Where the request does not say: OpenAI's default on completions, and null, what is left of the context. */
export const defaultMaxTokens: Readonly<Record<GenerationKind, number | null>> = {
  chat: null,
  completions: 16,
  predict: null,
  generate: null,
};

/** Null: what is left of the context. */
export function readMaxTokens(kind: GenerationKind, fields: MaxTokensFields): number | null {
  return fields[maxTokensField(fields)] ?? defaultMaxTokens[kind];
}

/** OpenAI has two names for it. Of both, which are equal then, the first; of none the one that every route has. */
export function maxTokensField(fields: MaxTokensFields): keyof MaxTokensFields {
  const isNew = fields.max_tokens === undefined && fields.max_completion_tokens !== undefined;
  return isNew ? 'max_completion_tokens' : 'max_tokens';
}

/** A prompt alone is scored where it is echoed. */
export function violationsOfNone({
  max_tokens,
  echo,
}: MaxTokensFields & { readonly echo?: boolean | undefined }): Violation[] {
  const rule = 'must be at least 1; 0 needs echo: true, and scores the prompt alone';
  return max_tokens === 0 && echo !== true ? [violationAt('max_tokens', rule)] : [];
}

export function violationsOfMaxTokens({
  max_tokens: old,
  max_completion_tokens: current,
}: MaxTokensFields): Violation[] {
  const differ = old !== undefined && current !== undefined && old !== current;
  return differ ? [violationAt('max_tokens', 'and max_completion_tokens differ')] : [];
}
