// POST /v1/completions, and the :predict protocol with it: prompts without messages.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { events, json, streamEnd } from '../answers.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

describe('completions', () => {
  test('the last chunk carries finish_reason and usage', async () => {
    const chunks = await events(await server.post('/openai/v1/completions', { prompt: 'x', stream: true }));
    expect(chunks[0]).toEqual({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      created: expect.any(Number),
      model: 'tiny',
      choices: [{ index: 0, text: 'Hi', logprobs: null, finish_reason: null }],
      system_fingerprint: expect.any(String),
    });
    expect(chunks.at(-2)).toMatchObject({
      choices: [{ text: '', finish_reason: 'stop', stop_reason: null }],
      usage: { completion_tokens: 7 },
    });
    expect(chunks.at(-1)).toBe(streamEnd);
  });

  test('a list of prompts gives one choice each, streamed and not', async () => {
    server.script = function* ({ prompt }) {
      yield output([prompt.at(-1)!], 'length');
    };
    const prompts = [byteIds('a'), byteIds('b'), byteIds('c')];
    const body = await json(await server.post('/v1/completions', { prompt: prompts }));
    expect(body.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ]);
    const chunks = (
      await events(await server.post('/v1/completions', { prompt: prompts, stream: true }))
    ).slice(0, -1);
    expect(chunks.map((chunk) => chunk.choices[0]!.text).sort()).toEqual(['a', 'b', 'c']);
    expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([chunks.at(-1)]);
  });

  test('passes the engine where the prompt’s messages end', async () => {
    await server.post('/v1/completions', { prompt: [5, 2, 6, 7, 2, 8] });
    expect(server.engine.requests[0]!.boundaries).toEqual([2, 5]);
  });

  test('asks for 16 tokens by default', async () => {
    await server.post('/v1/completions', { prompt: 'x' });
    expect(server.engine.requests[0]!.maxTokens).toBe(16);
  });
});

describe(':predict', () => {
  test('answers a prompt through the template, without thinking', async () => {
    const response = await server.post('/v1/models/tiny:predict', { prompt: 'x' });
    expect(await response.json()).toEqual({
      model_name: 'tiny',
      response: 'Hi é!',
      prompt_tokens: 7,
      completion_tokens: 7,
    });
    expect(server.tokenizer.decode(server.engine.requests[0]!.prompt, { skipSpecialTokens: false })).toBe(
      'user:x!',
    );
  });

  test('answers instances as predictions', async () => {
    const instances = [{ prompt: 'x' }, 'y', { messages: [{ role: 'user', content: 'z' }] }];
    const body = await json(await server.post('/v1/models/small:predict', { instances }));
    expect(body.predictions.map((each) => each.response)).toEqual(['Hi é!', 'Hi é!', 'Hi é!']);
    expect(body.predictions[0]!.model_name).toBe('small');
  });
});
