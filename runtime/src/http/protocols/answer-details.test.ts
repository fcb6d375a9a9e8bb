// What answers report with their text: token ids, running usage, the prompt that was kept.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { events, json, type Answer } from '../answers.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { a, b, complete, completeStreamed, scored, x, y, z } from './scored-answer.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
  server.script = scored;
});
afterEach(() => server.stop());

const ask = (body: object): Promise<Answer> => complete(server, body);
const askStreamed = (body: object): Promise<Answer[]> => completeStreamed(server, body);
const promptIdsIn = (all: readonly object[]): unknown[] =>
  all.flatMap((each) => ('prompt_token_ids' in each ? [each.prompt_token_ids] : []));

describe('return_token_ids', () => {
  test('reports the ids of a completion, its end token with them', async () => {
    const { choices } = await ask({ return_token_ids: true });
    expect(choices).toMatchObject([{ prompt_token_ids: [x, y, z], token_ids: [a, b, 2] }]);
  });

  test('streams them, the prompt’s once', async () => {
    const chunks = await askStreamed({ return_token_ids: true });
    const choices = chunks.flatMap((chunk) => chunk.choices);
    expect(choices).toMatchObject([{ token_ids: [a] }, { token_ids: [b] }, { token_ids: [2] }]);
    expect(promptIdsIn(choices)).toEqual([[x, y, z]]);
  });

  test('reports log probabilities of as many tokens as ids, on completions and chat, streamed and not', async () => {
    type Scored = Partial<{
      token_ids: number[];
      logprobs: { tokens?: string[]; content?: { logprob: number }[] } | null;
    }>;
    const counts = ({ choices }: Answer): number[] =>
      choices.flatMap((choice) => {
        const { token_ids: ids, logprobs } = choice as unknown as Scored;
        return [ids?.length ?? 0, (logprobs?.tokens ?? logprobs?.content ?? []).length];
      });
    expect(counts(await ask({ return_token_ids: true, logprobs: 1 }))).toEqual([3, 3]);
    expect((await askStreamed({ return_token_ids: true, logprobs: 1 })).map(counts)).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
    const asked = { return_token_ids: true, logprobs: true };
    expect(counts(await json(await server.chat(asked)))).toEqual([3, 3]);
    const chunks = (await events(await server.chat({ ...asked, stream: true }))).slice(0, -1);
    expect(chunks.map(counts)).toEqual([
      [0, 0],
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
    expect(counts(await ask({ logprobs: 1 }))).toEqual([0, 2]);
  });

  test('streams ids that give no text of their own', async () => {
    const [first, second] = byteIds('é') as [number, number];
    server.script = function* () {
      yield output([first]);
      yield output([second], 'length');
    };
    const chunks = await askStreamed({ return_token_ids: true });
    expect(chunks.flatMap(({ choices }) => choices)).toMatchObject([
      { text: '', token_ids: [first] },
      { text: 'é', token_ids: [second] },
    ]);
  });

  test('reports them on chat, the prompt’s next to the choices', async () => {
    const body = await json(await server.chat({ return_token_ids: true, n: 2 }));
    expect(body).toMatchObject({
      prompt_token_ids: [...server.engine.requests[0]!.prompt],
      choices: [{ token_ids: [a, b, 2] }, { token_ids: [a, b, 2] }],
    });
    const chunks = await events(await server.chat({ return_token_ids: true, stream: true }));
    expect(chunks[0]).toMatchObject({
      prompt_token_ids: [...server.engine.requests[0]!.prompt],
      choices: [{ delta: { role: 'assistant' }, token_ids: [] }],
    });
    expect(chunks.slice(1, 3)).toMatchObject([
      { choices: [{ token_ids: [a] }] },
      { choices: [{ token_ids: [b] }] },
    ]);
    expect(promptIdsIn(chunks)).toHaveLength(1);
  });
});

test('continuous_usage_stats reports the usage so far on each chunk', async () => {
  for (const include_usage of [true, false]) {
    const stream_options = { continuous_usage_stats: true, include_usage };
    const chunks = await events(await server.chat({ stream: true, stream_options }));
    const counts = chunks.slice(0, 4).map(({ usage }) => usage?.completion_tokens);
    expect(counts).toEqual([0, 1, 2, 3]);
  }
});

test('continuous_usage_stats counts each choice for itself, with its prompt', async () => {
  const stream_options = { continuous_usage_stats: true };
  const asked = { prompt: [x, y, z], n: 2, stream: true, stream_options };
  const chunks = await events(await server.post('/v1/completions', asked));
  const last = chunks.filter(({ choices }) => choices[0]?.finish_reason === 'stop');
  expect(last.map(({ usage }) => usage?.completion_tokens).toSorted()).toEqual([3, 6]);
  const first = chunks.filter(({ choices }) => choices[0]?.text === 'a');
  expect(first).toMatchObject(
    [1, 1].map((completion_tokens) => ({ usage: { prompt_tokens: 3, completion_tokens } })),
  );
});

test('truncate_prompt_tokens -1 keeps what leaves room for the answer', async () => {
  await ask({ prompt: 'x'.repeat(500), truncate_prompt_tokens: -1, max_tokens: 5 });
  // The context has 64 tokens.
  expect(server.engine.requests.at(-1)!.prompt).toHaveLength(59);
  await ask({ truncate_prompt_tokens: -1 });
  expect([...server.engine.requests.at(-1)!.prompt]).toEqual([x, y, z]);
});

test('truncate_prompt_tokens keeps the end of the prompt, and echo shows what was kept', async () => {
  const body = await ask({ truncate_prompt_tokens: 2, echo: true });
  expect([...server.engine.requests[0]!.prompt]).toEqual([y, z]);
  expect(body).toMatchObject({ choices: [{ text: 'yzab' }], usage: { prompt_tokens: 2 } });
  await ask({ prompt: 'x'.repeat(500), truncate_prompt_tokens: 9 });
  expect(server.engine.requests[1]!.prompt).toHaveLength(9);
  for (const [side, kept] of [
    ['left', [y, z]],
    ['right', [x, y]],
  ]) {
    await ask({ truncate_prompt_tokens: 2, truncation_side: side });
    expect([...server.engine.requests.at(-1)!.prompt]).toEqual(kept);
  }
  await ask({ truncation_side: 'right' });
  expect([...server.engine.requests.at(-1)!.prompt]).toEqual([x, y, z]);
});
