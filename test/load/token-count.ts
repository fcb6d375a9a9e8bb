// Counts what the events of one answer, streamed or whole, say of its tokens.

import type { Seen } from './accounting.js';

interface Answer {
  readonly error?: { readonly code: string };
  readonly choices?: readonly { readonly token_ids: readonly number[] | null }[];
  readonly usage?: Seen['usage'];
}

export class TokenCount {
  tokens = 0;
  usage: Seen['usage'] = null;
  /** Code of the error that ended the answer; null: none did. */
  error: string | null = null;

  /** Asks for what is counted here. */
  static readonly fields = { return_token_ids: true } as const;

  readonly take = (json: string): void => {
    const { error, choices = [], usage } = JSON.parse(json) as Answer;
    if (error !== undefined) this.error = error.code;
    for (const { token_ids } of choices) this.tokens += token_ids?.length ?? 0;
    this.usage = usage ?? this.usage;
  };
}
