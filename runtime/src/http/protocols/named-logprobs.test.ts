// vLLM's logprob_token_ids: with each token the log probabilities of those that the client named, streamed and not.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { events, json } from '../answers.fixture.js';
import { byteIds, output, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

const [a, b, y, z] = byteIds('abyz') as [number, number, number, number];

/** "a" and "b" of probability 1 / e, and named tokens by their place, as the engine reports them. */
const script: Script = function* ({ rules, promptLogprobs, prompt }) {
  const top = [...(rules?.reported ?? [])].map((token, place) => ({ token, logprob: -1 - place }));
  const scores = [...prompt.slice(1)].map((token) => ({ token, rank: 1, logprob: -3, top: [] }));
  yield { ...output([a]), logprobs: [{ logprob: -1, top }], promptScores: promptLogprobs ? scores : null };
  yield { ...output([b]), logprobs: [{ logprob: -1, top }] };
  yield { ...output([]), finish: 'stop', stopToken: 2, stopLogprobs: { logprob: -1, top } };
};

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
  server.script = script;
});
afterEach(() => server.stop());

const chat = { messages: [{ role: 'user', content: 'x' }], logprobs: true };
const completion = { prompt: 'x', logprobs: 0 };
const named = { logprob_token_ids: [a, z, y, z] };

interface Scored {
  readonly token: string;
  readonly logprob: number;
  readonly top_logprobs: readonly { readonly token: string; readonly logprob: number }[];
}
const parts = (tokens: readonly Scored[]): unknown =>
  tokens.map(({ token, top_logprobs }) => [
    token,
    ...top_logprobs.map((each) => `${each.token} ${String(each.logprob)}`),
  ]);

/** The choice of an answer, or the choices of a stream. */
async function choicesOf(path: string, body: object): Promise<{ logprobs: object | null }[]> {
  const answer = await server.post(path, body);
  expect(answer.status).toBe(200);
  const all = 'stream' in body ? (await events(answer)).slice(0, -1) : [await json(answer)];
  return all.flatMap(({ choices }) => choices) as unknown as { logprobs: object | null }[];
}

test.each([{}, { stream: true }, { top_logprobs: 3 }])(
  'a chat has the token itself, then each named one: %j',
  async (more) => {
    const choices = await choicesOf('/v1/chat/completions', { ...chat, ...named, ...more });
    const tokens = choices.flatMap(
      ({ logprobs }) => (logprobs as { content: Scored[] } | null)?.content ?? [],
    );
    expect(parts(tokens)).toEqual([
      ['a', 'a -1', 'z -2', 'y -3'],
      ['b', 'b -1', 'a -1', 'z -2', 'y -3'],
    ]);
    const [{ rules, sampling }] = server.engine.requests as [(typeof server.engine.requests)[0]];
    expect([...rules!.reported]).toEqual([a, z, y]);
    expect(sampling.topLogprobs).toBe('top_logprobs' in more ? 3 : 0);
  },
);

test.each([{}, { stream: true }])('a completion has them by text: %j', async (more) => {
  const choices = await choicesOf('/v1/completions', { ...completion, ...named, ...more });
  const tops = choices.flatMap(
    ({ logprobs }) => (logprobs as { top_logprobs: object[] } | null)?.top_logprobs ?? [],
  );
  expect(tops).toEqual([
    { a: -1, z: -2, y: -3 },
    { a: -1, b: -1, z: -2, y: -3 },
  ]);
});

test('an echoed prompt has the likeliest', async () => {
  const [choice] = await choicesOf('/v1/completions', {
    ...completion,
    prompt: [z, y],
    ...named,
    echo: true,
  });
  const { top_logprobs: tops } = choice!.logprobs as { top_logprobs: object[] };
  expect(tops).toEqual([null, { y: -3 }, { a: -1, z: -2, y: -3 }, { a: -1, b: -1, z: -2, y: -3 }]);
});

test('names of tokens may be their ids', async () => {
  const [choice] = await choicesOf('/v1/chat/completions', {
    ...chat,
    ...named,
    return_tokens_as_token_ids: true,
  });
  const { content } = choice!.logprobs as { content: Scored[] };
  expect(content[1]!.top_logprobs.map(({ token }) => token)).toEqual(
    [b, a, z, y].map((id) => `token_id:${String(id)}`),
  );
});

const many = Array.from({ length: 21 }, (_, id) => id);
test.each<[string, object, string]>([
  ['/v1/chat/completions', { ...chat, logprobs: false, ...named }, 'needs logprobs'],
  ['/v1/completions', { prompt: 'x', ...named }, 'needs logprobs'],
  ['/v1/completions', { ...completion, ...named, echo: true, max_tokens: 0 }, 'needs max_tokens above 0'],
  ['/v1/chat/completions', { ...chat, logprob_token_ids: [] }, 'must NOT have fewer than 1 items'],
  ['/v1/chat/completions', { ...chat, logprob_token_ids: [300] }, 'has the token id 300'],
  [
    '/v1/chat/completions',
    { ...chat, logprob_token_ids: many },
    'of 21 ids needs max_tokens of at most 6241',
  ],
  [
    '/v1/chat/completions',
    { ...chat, logprob_token_ids: Array.from({ length: 129 }, (_, id) => id) },
    'must NOT have more than 128 items',
  ],
  ['/v1/responses', { input: 'x', ...named }, 'is not a known field'],
])('%s refuses %j', async (path, body, message) => {
  const answer = await server.post(path, body);
  const { error } = (await answer.json()) as { error: { message: string } };
  expect([answer.status, error.message]).toEqual([
    400,
    expect.stringContaining(`logprob_token_ids ${message}`),
  ]);
});

test('many ids are reported of an answer of few tokens', async () => {
  const body = { ...chat, logprob_token_ids: many, max_tokens: 5 };
  expect((await server.post('/v1/chat/completions', body)).status).toBe(200);
});
