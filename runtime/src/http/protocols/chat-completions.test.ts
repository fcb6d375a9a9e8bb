// POST /v1/chat/completions: answers whole and in chunks, as OpenAI's clients expect them.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { events, json, streamEnd } from '../answers.fixture.js';
import { byteIds, output, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

// No `tool_calls` without calls: OpenAI's and vLLM's have none, and OpenAI refuses a history with an empty list.
test('answers with every key that clients rely on', async () => {
  const body = await json(await server.chat({}));
  expect(body).toEqual({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'tiny',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hi é!',
          reasoning: null,
          reasoning_content: null,
          refusal: null,
        },
        logprobs: null,
        finish_reason: 'stop',
        stop_reason: null,
        token_ids: null,
      },
    ],
    usage: {
      prompt_tokens: 6,
      completion_tokens: 7,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    prompt_token_ids: null,
    system_fingerprint: expect.any(String),
  });
});

test('streams a chunk of the role and one per engine step, with what clients read', async () => {
  const response = await server.chat({ stream: true });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': expect.stringContaining('text/event-stream'),
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  const chunks = await events(response);
  expect(chunks[0]).toEqual({
    id: expect.any(String),
    object: 'chat.completion.chunk',
    created: expect.any(Number),
    model: 'tiny',
    choices: [
      {
        index: 0,
        delta: { role: 'assistant', content: '' },
        logprobs: null,
        finish_reason: null,
      },
    ],
    system_fingerprint: expect.any(String),
  });
  expect(chunks[1]!.choices).toEqual([
    { index: 0, delta: { content: 'Hi' }, logprobs: null, finish_reason: null },
  ]);
  expect(chunks.at(-2)!.choices).toEqual([
    { index: 0, delta: { content: '' }, logprobs: null, finish_reason: 'stop', stop_reason: null },
  ]);
  const contents = chunks.slice(0, -1).map((chunk) => chunk.choices[0]!.delta.content);
  expect(contents).toEqual(['', 'Hi', ' é', '!', '']);
  // Clients join the strings of a choice, the role too.
  const roles = chunks.slice(0, -1).map((chunk) => chunk.choices[0]!.delta.role);
  expect(roles).toEqual(['assistant', undefined, undefined, undefined, undefined]);
  expect(chunks.at(-1)).toBe(streamEnd);
});

test('include_usage adds one chunk without choices', async () => {
  const chunks = await events(await server.chat({ stream: true, stream_options: { include_usage: true } }));
  expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 7 } });
  expect(chunks.slice(0, -2).every((chunk) => chunk.usage === null)).toBe(true);
});

test('a character cut between two steps is never broken', async () => {
  const [first, second] = byteIds('é');
  server.script = function* () {
    yield output([first!]);
    yield output([second!], 'length');
  };
  const chunks = await events(await server.chat({ stream: true }));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content)).toEqual(['', 'é', undefined]);
});

test('the role comes with the first token, of each choice by itself', async () => {
  server.script = function* () {
    yield output(byteIds('a'));
    yield output(byteIds('b'), 'length');
  };
  const chunks = await events(await server.chat({ stream: true, n: 2 }));
  for (const wanted of [0, 1]) {
    const own = chunks.flatMap(({ choices }) => choices.filter(({ index }) => index === wanted));
    expect(own.map(({ delta }) => [delta.role, delta.content])).toEqual([
      ['assistant', ''],
      [undefined, 'a'],
      [undefined, 'b'],
    ]);
  }
});

test('the chunk of the role and the first token are one write', async () => {
  let goOn = (): void => undefined;
  const isRead = new Promise<void>((resolve) => (goOn = resolve));
  server.script = async function* () {
    yield output(byteIds('a'));
    await isRead;
    yield output(byteIds('b'), 'length');
  };
  const reader = (await server.chat({ stream: true })).body!.getReader();
  const first = Buffer.from((await reader.read()).value ?? []).toString();
  expect(first.match(/"content":"[^"]*"/g)).toEqual(['"content":""', '"content":"a"']);
  goOn();
  await reader.cancel();
});

test('OpenAI’s own client puts log probabilities together as the whole answer has them', async () => {
  server.script = function* () {
    for (const [i, id] of byteIds('ab').entries())
      yield { ...output([id]), logprobs: [{ logprob: -1 - i, top: [] }] };
    yield { ...output([]), finish: 'stop', stopToken: 2 };
  };
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const asked = { model: 'tiny', messages: [{ role: 'user' as const, content: 'x' }], logprobs: true };
  const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
  const whole = await client.chat.completions.create(asked);
  expect(streamed.choices[0]!.logprobs!.content).toEqual(whole.choices[0]!.logprobs!.content);
  expect(whole.choices[0]!.logprobs!.content).toHaveLength(2);
});

test('a stop string ends the text, and what follows is neither sent nor counted', async () => {
  server.script = says('one E', 'ND two', ' three');
  const body = await json(await server.chat({ stop: ['END'] }));
  expect(body.choices[0]).toMatchObject({
    message: { content: 'one ' },
    finish_reason: 'stop',
    stop_reason: 'END',
  });
  expect(body.usage!.completion_tokens).toBe('one END'.length);
  expect(server.engine.open).toBe(0);
});

test('continues the final message where asked to', async () => {
  const ending = { add_generation_prompt: false, continue_final_message: true };
  await server.chat(ending);
  await server.chat({ messages: [{ role: 'assistant', content: 'So ' }], ...ending, stream: true });
  const prompts = server.engine.requests.map(({ prompt }) =>
    server.tokenizer.decode(prompt, { skipSpecialTokens: false }),
  );
  expect(prompts).toEqual(['user:x', 'assistant:So ']);
});

test('passes every sampling field on to the engine', async () => {
  const fields = {
    temperature: 0.5,
    top_p: 0.9,
    top_k: 20,
    min_p: 0.1,
    typical_p: 0.7,
    seed: 7,
    presence_penalty: 1,
    frequency_penalty: -1,
    repetition_penalty: 1.1,
  };
  const rules = { logit_bias: { '7': -2 }, min_tokens: 3, allowed_token_ids: [9, 7], bad_words: ['a'] };
  await server.chat({ ...fields, ...rules, max_completion_tokens: 9, stop_token_ids: [5] });
  const { sampling, maxTokens, stopTokens, rules: asked } = server.engine.requests[0]!;
  expect(asked).toMatchObject({ minTokens: 3, biased: Int32Array.of(7), biases: Float32Array.of(-2) });
  expect([...asked!.allowed, asked!.bannedEnds.length]).toEqual([7, 9, 2]);
  expect(sampling).toEqual({
    temperature: 0.5,
    topP: 0.9,
    topK: 20,
    minP: 0.1,
    typicalP: 0.7,
    seed: 7n,
    presencePenalty: 1,
    frequencyPenalty: -1,
    repetitionPenalty: 1.1,
    topLogprobs: null,
  });
  expect([maxTokens, [...stopTokens]]).toEqual([9, [2, 5]]);
});
