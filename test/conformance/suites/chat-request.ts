// A chat to ask for, and what holds of log probabilities.

import { post, type SentRequest } from './suite-case.js';

export const chatPath = '/v1/chat/completions';

export const hello = [{ role: 'user', content: 'Hello' }];
export const reply = (content: unknown): object[] => [...hello, { role: 'assistant', content }];

/** Greedy and short unless the fields say otherwise. */
export const chat = (fields: object = {}): SentRequest =>
  post(chatPath, { messages: hello, max_tokens: 4, temperature: 0, ...fields });

export const streamed = { stream: true };
export const message = 'choices.0.message';

interface Scored {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[] | null;
  readonly top_logprobs: readonly object[];
}
/** Log probabilities with as many alternatives each. */
export const scored =
  (alternatives: number) =>
  (value: unknown): boolean =>
    Array.isArray(value) &&
    (value as Scored[]).every(
      ({ logprob, bytes, top_logprobs }) =>
        logprob <= 0 && bytes !== null && top_logprobs.length === alternatives,
    );
/** Every chunk but the role's has the log probabilities of its own text. */
export const eachScored = (value: unknown): boolean => {
  const [, ...chunks] = value as readonly {
    choices: readonly { delta: { content: string }; logprobs: { content: readonly Scored[] } }[];
  }[];
  return chunks.every(({ choices: [choice] }) => {
    const { delta, logprobs } = choice!;
    return logprobs.content.map(({ token }) => token).join('') === delta.content;
  });
};
