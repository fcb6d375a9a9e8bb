// Tokens that a generation, an embedding or a whole request has used.

export interface TokenCounts {
  readonly promptTokens: number;
  /** Of the prompt's tokens, those that the prefix cache had. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Of the completion's tokens, those of its reasoning. */
  readonly reasoningTokens: number;
  /** Of the completion's tokens, those that had been guessed rightly. */
  readonly acceptedDraftTokens: number;
}
