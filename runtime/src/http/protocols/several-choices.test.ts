// OpenAI's n and best_of: several answers to one prompt, each with a seed of its own, from one prompt's computation.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { setTimeout as sleep } from 'node:timers/promises';
import { events, json } from '../answers.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
/** Letters in the order in which requests reach the engine. */
let letters: string[];
beforeEach(async () => {
  server = await ScriptedServer.start();
  letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  server.script = function* () {
    const letter = letters.shift()!;
    yield output(byteIds(letter));
    yield output(byteIds(letter.toUpperCase()), 'length');
  };
});
afterEach(() => server.stop());

describe('n', () => {
  test.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }, 6],
    ['/v1/completions', { prompt: 'xyz' }, 4],
  ])('gives as many choices on %s, and counts the prompt once', async (route, body, promptTokens) => {
    const answer = await json(await server.post(route, { ...body, n: 3, seed: 7 }));
    expect(answer.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'length'],
      [1, 'length'],
      [2, 'length'],
    ]);
    expect(answer.usage).toMatchObject({
      prompt_tokens: promptTokens,
      completion_tokens: 6,
      total_tokens: promptTokens + 6,
      prompt_tokens_details: { cached_tokens: 3 },
    });
  });

  test('each choice has a seed of its own, the first the one that it has alone', async () => {
    await server.post('/v1/completions', { prompt: 'xyz', seed: 7 });
    await server.post('/v1/completions', { prompt: 'xyz', seed: 7, n: 3 });
    await server.post('/v1/completions', { prompt: 'xyz', seed: 7, n: 2 });
    const seeds = server.engine.requests.map(({ sampling }) => sampling.seed);
    expect([seeds[1], seeds[4]]).toEqual([7n, 7n]);
    expect(seeds[5]).toBe(seeds[2]);
    expect(new Set(seeds.slice(1, 4)).size).toBe(3);
    const [, first, second] = server.engine.requests;
    expect({ ...second, id: '', sampling: null }).toEqual({ ...first, id: '', sampling: null });
    expect(new Set(server.engine.requests.map(({ id }) => id)).size).toBe(6);
  });

  test('the others begin once the first has computed the prompt', async () => {
    let alone = 0;
    server.script = async function* () {
      if (server.engine.requests.length > 1) {
        yield output(byteIds('b'), 'length');
        return;
      }
      yield output([]);
      await sleep(20);
      alone = server.engine.requests.length;
      yield output(byteIds('a'));
      while (server.engine.requests.length < 4) await sleep(1);
      yield output(byteIds('A'), 'length');
    };
    const answer = await json(await server.post('/v1/completions', { prompt: 'x', n: 4 }));
    expect(answer.choices.map(({ text }) => text)).toEqual(['aA', 'b', 'b', 'b']);
    expect(alone).toBe(1);
  });

  test('streams the same choices by index, prompt after prompt', async () => {
    const chunks = await events(
      await server.post('/v1/completions', { prompt: ['x', 'y'], n: 2, stream: true }),
    );
    const texts = new Map<number, string>();
    for (const { choices } of chunks)
      for (const { index, text } of choices) texts.set(index, (texts.get(index) ?? '') + text);
    expect([...texts.keys()].sort()).toEqual([0, 1, 2, 3]);
    expect([...texts.values()].sort()).toEqual(['aA', 'bB', 'cC', 'dD']);
    expect([texts.get(0), texts.get(2)]).toEqual(['aA', 'bB']);
    expect(chunks.at(-2)!.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 8 });
  });

  test('fails as a whole where the first choice fails', async () => {
    // eslint-disable-next-line require-yield
    server.script = function* () {
      throw new FailureError('EngineFault', 'the engine process was lost');
    };
    const response = await server.post('/v1/completions', { prompt: 'x', n: 3 });
    expect(response.status).toBe(503);
    expect([server.engine.open, server.parts.admission.inFlight]).toEqual([0, 0]);
  });

  test('that the replica never has room for is refused at once', async () => {
    const response = await server.post('/v1/completions', { prompt: 'x', n: 9 });
    expect(response.status).toBe(400);
    expect((await json(response)).error.message).toContain('takes at most 8');
  });
});

describe('best_of', () => {
  /** Mean log probabilities by arrival. */
  const scripted = (...logprobs: readonly (readonly number[])[]): void => {
    const left = [...logprobs];
    server.script = function* () {
      const own = left.shift()!;
      const tokens = byteIds(letters.shift()!.repeat(own.length));
      yield { ...output(tokens, 'length'), logprobs: own.map((logprob) => ({ logprob, top: [] })) };
    };
  };

  test('gives the likeliest per token, best first, and counts them all', async () => {
    scripted([-3, -3], [-1, -2], [-2, -1.9, -2], []);
    const answer = await json(await server.post('/v1/completions', { prompt: 'xyz', n: 2, best_of: 4 }));
    expect(answer.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'bb'],
      [1, 'ccc'],
    ]);
    expect(answer.choices[0]).toMatchObject({ logprobs: null });
    expect(answer.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 7 });
    expect(server.engine.requests[0]!.sampling.topLogprobs).toBe(0);
  });

  test('is ranked prompt by prompt', async () => {
    scripted([-2], [-1], [-1], [-3]);
    const answer = await json(await server.post('/v1/completions', { prompt: ['x', 'y'], best_of: 2 }));
    expect(answer.choices.map(({ text }) => text)).toEqual(['c', 'b']);
  });

  test('may be streamed where it asks for no more than n', async () => {
    const response = await server.post('/v1/completions', { prompt: 'x', n: 2, best_of: 2, stream: true });
    expect(response.status).toBe(200);
    await events(response);
  });
});
