// A text completion to ask for.

import { post, type SentRequest } from './suite-case.js';

export const prompt = 'Hello, my name is';
export const completionPath = '/v1/completions';

/** Greedy and short unless the fields say otherwise. */
export const complete = (fields: object = {}): SentRequest =>
  post(completionPath, { prompt, max_tokens: 4, temperature: 0, ...fields });

export const streamed = { stream: true };
/** Three of them are three texts. */
export const hot = { temperature: 1.5, max_tokens: 16 };
export const choice = 'choices.0';
