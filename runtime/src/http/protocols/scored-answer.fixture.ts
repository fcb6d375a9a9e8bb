// An answer whose tokens and prompt have log probabilities, and completions that ask for it.

import { expect } from '@jest/globals';
import type { EngineOutput } from '../../engine/protocol.js';
import { events, json, type Answer } from '../answers.fixture.js';
import { byteIds, output, type Script } from '../scripted-engine.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';

export const [x, y, z, a, b] = byteIds('xyzab') as [number, number, number, number, number];

/** The prompt in two steps, then "a", "b" and the end token. */
export const scored: Script = function* ({ promptLogprobs, prompt, sampling }) {
  const count = sampling.topLogprobs;
  const top = [
    { token: z, logprob: -0.25 },
    { token: a, logprob: -0.5 },
  ].slice(0, count ?? 0);
  const score = (token: number, rank: number) => ({ token, rank, logprob: -rank, top });
  const scores = [...prompt.slice(1)].map((token, i) => score(token, i + 1));
  const said = (token: number): EngineOutput => ({
    ...output([token]),
    logprobs: count === null ? null : [{ logprob: -1, top }],
  });
  if (promptLogprobs) yield { ...output([]), promptScores: scores.slice(0, 1) };
  yield { ...said(a), promptScores: promptLogprobs ? scores.slice(1) : null };
  yield said(b);
  yield { ...output([]), finish: 'stop', stopToken: 2, stopLogprobs: said(2).logprobs?.[0] ?? null };
};

export async function complete(server: ScriptedServer, body: object): Promise<Answer> {
  const response = await server.post('/v1/completions', { prompt: [x, y, z], ...body });
  expect(response.status).toBe(200);
  return json(response);
}

/** Without the line that ends the stream. */
export async function completeStreamed(server: ScriptedServer, body: object): Promise<Answer[]> {
  const response = await server.post('/v1/completions', { prompt: [x, y, z], ...body, stream: true });
  return (await events(response)).slice(0, -1);
}
