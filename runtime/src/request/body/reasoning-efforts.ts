/** What OpenAI's clients may ask for: `none` is no reasoning, and all others leave it to the model. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
