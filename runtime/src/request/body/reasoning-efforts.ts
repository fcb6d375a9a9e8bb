/** What OpenAI's clients may ask for: `none` is no reasoning, and all others are passed to the chat template. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
