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
  truncate_prompt_tokens: { routes: all, schema: { type: 'integer', minimum: 1 } },
  // Where tokens are left out.
  truncation_side: { routes: all, schema: { enum: ['left', 'right'] } },
} as const satisfies FieldTable;

/** Of completions. 0: the prompt alone, echoed. */
export const maxTokensOrNone = { max_tokens: { type: 'integer', minimum: 0 } } as const;

export type MaxTokensFields = TableValues<typeof maxTokensFields>;

/** OpenAI's default on completions. */
const completionMaxTokens = 16;

/** Null: what is left of the context. */
export function readMaxTokens(kind: GenerationKind, fields: MaxTokensFields): number | null {
  return fields[maxTokensField(fields)] ?? (kind === 'completions' ? completionMaxTokens : null);
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
