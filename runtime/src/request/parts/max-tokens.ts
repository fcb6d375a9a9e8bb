// How many tokens an answer may have at most, by the name that the client knows it by.

import type { GenerationKind } from '../body/request-fields.js';
import type { Fields } from '../body/validate-body.js';

/** OpenAI's default on completions. */
const completionMaxTokens = 16;

/** Null: what is left of the context. */
export function readMaxTokens(kind: GenerationKind, fields: Fields): number | null {
  const given = fields[maxTokensField(fields)] as number | undefined;
  return given ?? (kind === 'completions' ? completionMaxTokens : null);
}

/** OpenAI has two names for it. Of both, which are equal then, the first; of none the one that every route has. */
export function maxTokensField(fields: Fields): 'max_tokens' | 'max_completion_tokens' {
  const isNew = fields['max_tokens'] === undefined && fields['max_completion_tokens'] !== undefined;
  return isNew ? 'max_completion_tokens' : 'max_tokens';
}
