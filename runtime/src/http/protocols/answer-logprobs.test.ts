// Log probabilities of answers and of their prompts, and where in the text each token begins.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { events, json, type Answer } from '../answers.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { a, b, complete, completeStreamed, scored, x, y, z } from './scored-answer.fixture.js';

/** The fixture's special token <|bos|>, which it puts before texts. */
const bos = 265;

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
  server.script = scored;
});
afterEach(() => server.stop());

const ask = (body: object): Promise<Answer> => complete(server, body);
const askStreamed = (body: object): Promise<Answer[]> => completeStreamed(server, body);

describe('echo', () => {
  test('puts the prompt before each choice, streamed and not', async () => {
    const whole = await ask({ echo: true, n: 2 });
    expect(whole.choices.map(({ text }) => text)).toEqual(['xyzab', 'xyzab']);
    expect((await ask({ echo: true, prompt: 'héxy' })).choices[0]!.text).toBe('héxyab');
    const chunks = await askStreamed({ echo: true });
    expect(chunks.map(({ choices }) => choices[0]!.text)).toEqual(['xyza', 'b', '']);
    expect(server.engine.requests.some(({ promptLogprobs }) => promptLogprobs)).toBe(false);
  });

  const echoed = {
    tokens: ['x', 'y', 'z', 'a', 'b'],
    token_logprobs: [null, -1, -2, -1, -1],
    top_logprobs: [null, { z: -0.25, y: -1 }, { z: -2 }, { z: -0.25, a: -1 }, { z: -0.25, b: -1 }],
    text_offset: [0, 1, 2, 3, 4],
  };

  test('has the prompt’s log probabilities where the answer has them', async () => {
    const { choices } = await ask({ echo: true, logprobs: 1, n: 2 });
    expect(choices).toMatchObject([{ logprobs: echoed }, { logprobs: echoed }]);
    // The prompt is scored once.
    expect(server.engine.requests.map(({ promptLogprobs }) => promptLogprobs)).toEqual([true, false]);
  });

  test('streams the same log probabilities', async () => {
    const chunks = await askStreamed({ echo: true, logprobs: 1 });
    const parts = chunks
      .flatMap(({ choices }) => choices)
      .map((choice) => (choice as { logprobs?: unknown }).logprobs);
    const all = parts.filter((part) => part !== null) as (typeof echoed)[];
    for (const key of ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'] as const)
      expect(all.flatMap((part) => part[key] as unknown[])).toEqual(echoed[key]);
  });

  test('scores the prompt alone where max_tokens is 0, streamed and not', async () => {
    const body = { echo: true, logprobs: 1, max_tokens: 0 };
    const { choices, usage } = await ask(body);
    const { tokens, token_logprobs } = echoed;
    const prompt = { tokens: tokens.slice(0, 3), token_logprobs: token_logprobs.slice(0, 3) };
    expect(choices).toMatchObject([{ text: 'xyz', finish_reason: 'length', logprobs: prompt }]);
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 0 });
    const chunks = await askStreamed(body);
    expect(chunks.map(({ choices: [choice] }) => choice!.text).join('')).toBe('xyz');
    expect(server.engine.requests.map(({ maxTokens }) => maxTokens)).toEqual([1, 1]);
    const refused = await server.post('/v1/completions', { prompt: [x], max_tokens: 0 });
    expect((await json(refused)).error.message).toContain('0 needs echo: true');
  });
});

test('a prompt that fills the context is echoed, and none that is longer or wants an answer', async () => {
  const full = byteIds('a'.repeat(64));
  const answer = await ask({ prompt: full, echo: true, logprobs: 0, max_tokens: 0 });
  expect(answer.choices[0]).toMatchObject({ text: 'a'.repeat(64), finish_reason: 'length' });
  expect(answer.usage).toMatchObject({ prompt_tokens: 64, completion_tokens: 0 });
  expect(server.engine.requests[0]).toMatchObject({ maxTokens: 0 });
  for (const body of [
    { prompt: [...full, a], max_tokens: 0 },
    { prompt: full, max_tokens: 1 },
    { prompt: full },
  ]) {
    const refused = await server.post('/v1/completions', { ...body, echo: true });
    expect((await json(refused)).error).toMatchObject({ code: 'context_length_exceeded' });
  }
});

test.each([
  ['alone where no alternatives are', 0, [{ a: -1 }, { b: -1 }]],
  [
    'with the likelier',
    1,
    [
      { z: -0.25, a: -1 },
      { z: -0.25, b: -1 },
    ],
  ],
  [
    'and once where it is among them',
    2,
    [
      { z: -0.25, a: -1 },
      { z: -0.25, a: -0.5, b: -1 },
    ],
  ],
])('a completion’s top_logprobs have each token of the answer, %s', async (_, logprobs, expected) => {
  const { choices } = await ask({ logprobs });
  const { logprobs: reported } = choices[0] as unknown as { logprobs: { top_logprobs: unknown } };
  expect(reported.top_logprobs).toEqual(expected);
});

test('a text held back for a stop string moves no offset', async () => {
  const chunks = await askStreamed({ logprobs: 0, stop: ['aq'] });
  expect(chunks.map(({ choices: [choice] }) => choice!.text)).toEqual(['', 'ab', '']);
  const offsets = chunks.flatMap(({ choices: [choice] }) => {
    const { logprobs } = choice as { logprobs?: { text_offset: number[] } | null };
    return logprobs?.text_offset ?? [];
  });
  expect(offsets).toEqual([0, 1]);
});

describe('text_offset', () => {
  const offsetsOf = ({ choices }: Answer): number[] =>
    choices.flatMap((choice) => {
      const { logprobs } = choice as { logprobs?: { text_offset: number[] } | null };
      return logprobs?.text_offset ?? [];
    });
  // In code points, as Python counts: the last of a character's tokens ends it.
  const places = [0, 1, 2, 2, 2, 2, 3, 4, 4, 5];

  test('is a place in the text where a character is several tokens', async () => {
    const asked = { prompt: byteIds('H 😀 éx'), echo: true, logprobs: 0, max_tokens: 0 };
    expect(offsetsOf(await ask(asked))).toEqual(places);
  });

  test('is the same in a stream, wherever it cuts a character', async () => {
    server.script = function* ({ prompt }) {
      const scores = [...prompt.slice(1)].map((token) => ({ token, rank: 1, logprob: -1, top: [] }));
      const logprobs = [{ logprob: -1, top: [] }];
      const [first, ...others] = byteIds('😀 éx');
      yield { ...output([first!]), logprobs, promptScores: scores };
      for (const id of others) yield { ...output([id]), logprobs };
      yield { ...output([]), finish: 'stop', stopToken: 2 };
    };
    const chunks = await askStreamed({ prompt: byteIds('H '), echo: true, logprobs: 0, n: 2 });
    for (const index of [0, 1]) {
      const own = chunks.filter(({ choices: [choice] }) => choice?.index === index);
      expect(own.flatMap(offsetsOf)).toEqual(places);
    }
  });

  test.each([
    ['a token that the text leaves out', { prompt: [bos, ...byteIds('ab')] }, [0, 0, 1], 'ab'],
    [
      'one that it has',
      { prompt: [bos, ...byteIds('ab')], skip_special_tokens: false },
      [0, 7, 8],
      '<|bos|>ab',
    ],
    ['one that the client spelled', { prompt: 'a<|end|>b' }, [0, 0, 1, 8], 'a<|end|>b'],
  ])('is a place in the text behind %s', async (_, prompt, offsets, text) => {
    const answer = await ask({ ...prompt, echo: true, logprobs: 0, max_tokens: 0 });
    expect([offsetsOf(answer), answer.choices[0]?.text]).toEqual([offsets, text]);
  });

  test('counts the names of tokens by id', async () => {
    const asked = { prompt: byteIds('é'), echo: true, logprobs: 0, max_tokens: 0 };
    const reported = await ask({ ...asked, return_tokens_as_token_ids: true });
    expect(offsetsOf(reported)).toEqual([0, `token_id:${String(byteIds('é')[0])}`.length]);
  });
});

describe('prompt_logprobs', () => {
  const scored = [
    null,
    {
      [y]: { logprob: -1, rank: 1, decoded_token: 'y' },
      [z]: { logprob: -0.25, rank: 1, decoded_token: 'z' },
    },
    { [z]: { logprob: -2, rank: 2, decoded_token: 'z' } },
  ];

  test('are of each choice of a completion', async () => {
    const { choices } = await ask({ prompt_logprobs: 1 });
    expect(choices).toMatchObject([{ text: 'ab', logprobs: null, prompt_logprobs: scored }]);
  });

  test('may have fewer alternatives than the answer, or more', async () => {
    const { choices } = await ask({ prompt_logprobs: 1, logprobs: 2 });
    expect(choices).toMatchObject([
      {
        prompt_logprobs: scored,
        logprobs: {
          top_logprobs: [
            { z: -0.25, a: -1 },
            { z: -0.25, a: -0.5, b: -1 },
          ],
        },
      },
    ]);
    const more = await ask({ prompt_logprobs: 2, logprobs: 0 });
    expect(more.choices).toMatchObject([{ logprobs: { top_logprobs: [{ a: -1 }, { b: -1 }] } }]);
    expect(server.engine.requests.map(({ sampling }) => sampling.topLogprobs)).toEqual([2, 2]);
  });

  test('are of the whole answer on chat, and nowhere unless asked for', async () => {
    const body = await json(await server.chat({ prompt_logprobs: 0 }));
    const { prompt_logprobs } = body as unknown as { prompt_logprobs: unknown[] };
    expect(prompt_logprobs).toHaveLength(6);
    expect(prompt_logprobs.slice(0, 2)).toEqual([null, expect.any(Object)]);
    expect(await json(await server.chat({}))).not.toHaveProperty('prompt_logprobs');
  });

  test('are refused in a stream', async () => {
    const response = await server.chat({ prompt_logprobs: 0, stream: true });
    expect(response.status).toBe(400);
    expect((await json(response)).error.message).toContain('prompt_logprobs needs stream: false');
  });
});

test('return_tokens_as_token_ids names tokens by id in log probabilities', async () => {
  const asked = { return_tokens_as_token_ids: true };
  const { choices } = await ask({ ...asked, logprobs: 1 });
  expect(choices).toMatchObject([
    {
      text: 'ab',
      logprobs: {
        tokens: [`token_id:${a}`, `token_id:${b}`],
        top_logprobs: [
          { [`token_id:${z}`]: -0.25, [`token_id:${a}`]: -1 },
          { [`token_id:${z}`]: -0.25, [`token_id:${b}`]: -1 },
        ],
      },
    },
  ]);
  const chunks = await events(await server.chat({ ...asked, logprobs: true, stream: true }));
  expect(chunks[1]).toMatchObject({
    choices: [{ logprobs: { content: [{ token: `token_id:${a}`, bytes: [a] }] } }],
  });
});
