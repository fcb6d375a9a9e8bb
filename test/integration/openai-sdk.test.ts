// What OpenAI's own Node client makes of a whole replica, helpers and raw responses included, and the routes beside
// OpenAI's with the demo model.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { eventually } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

let replica: ReplicaProcess;
let client: OpenAI;
beforeAll(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint });
  await replica.ready();
  client = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => replica.stop());

const messages = [{ role: 'user' as const, content: 'What is the capital of France?' }];
const chat = { model: 'demo', messages, temperature: 0, max_completion_tokens: 48 };
const completion = { model: 'demo', prompt: 'The capital of', temperature: 0, max_tokens: 8 };

const answer = async (): Promise<string> =>
  (await client.chat.completions.create(chat)).choices[0]!.message.content!;

describe('the client', () => {
  test('streams a chat, with the usage at the end', async () => {
    const stream = await client.chat.completions.create({
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(await answer());
    expect(text).toContain('Paris');
    expect(usage!.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
  });

  test('puts the stream together with its helper, event by event and whole', async () => {
    const runner = client.chat.completions.stream(chat);
    const deltas: string[] = [];
    runner.on('content', (delta) => deltas.push(delta));
    const whole = await runner.finalChatCompletion();
    expect(deltas.join('')).toBe(await answer());
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: deltas.join('') },
    });
    expect(await runner.finalContent()).toBe(deltas.join(''));
  });

  test('puts log probabilities together as the whole answer has them', async () => {
    const asked = { ...chat, logprobs: true, top_logprobs: 1 };
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
    const whole = await client.chat.completions.create(asked);
    const { content } = whole.choices[0]!.logprobs!;
    expect(content!.map(({ token }) => token).join('')).toBe(whole.choices[0]!.message.content);
    expect(streamed.choices[0]!.logprobs!.content).toEqual(content);
  });

  test('ends a stream that it leaves, and the replica stops generating', async () => {
    const stream = await client.completions.create({ ...completion, max_tokens: 900, stream: true });
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    await eventually('the generation to end', async () => (await replica.health()).engine?.inFlight === 0);
  });

  test('completes texts, streamed and not', async () => {
    const whole = await client.completions.create(completion);
    let text = '';
    for await (const chunk of await client.completions.create({ ...completion, stream: true }))
      text += chunk.choices[0]?.text ?? '';
    expect(text).toBe(whole.choices[0]!.text);
    expect(whole.usage!.completion_tokens).toBeLessThanOrEqual(8);
  });

  test('decodes embeddings from the base64 that it asks for by itself', async () => {
    const { data, usage } = await client.embeddings.create({ model: 'demo', input: ['a', 'b'] });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([
      data[0]!.embedding.length,
      data[0]!.embedding.length,
    ]);
    expect(data[0]!.embedding.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 4);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
  });

  test('lists the models and finds one', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(['demo', 'demo-alias']);
    expect(await client.models.retrieve('demo-alias')).toMatchObject({ id: 'demo-alias', object: 'model' });
  });

  test('gives the raw response, alone and beside what it parsed', async () => {
    const raw = await client.chat.completions.create(chat).asResponse();
    expect(raw.headers.get('x-request-id')).toMatch(/^chatcmpl-/);
    expect(((await raw.json()) as OpenAI.ChatCompletion).choices[0]!.message.content).toBe(await answer());
    const { data, response, request_id } = await client.completions.create(completion).withResponse();
    expect([response.status, request_id]).toEqual([200, data.id]);
  });

  test('parses an answer with a schema', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const parsed = await client.chat.completions.parse({
      ...chat,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'verdict', strict: true, schema: { ...schema, additionalProperties: false } },
      },
    });
    expect(typeof (parsed.choices[0]!.message.parsed as { ok: boolean }).ok).toBe('boolean');
  });

  test('throws its own errors, with the field or the name that is wrong', async () => {
    const wrong = await client.chat.completions.create({ ...chat, temperature: 3 }).catch((e: unknown) => e);
    expect(wrong).toBeInstanceOf(BadRequestError);
    expect(wrong).toMatchObject({
      param: 'temperature',
      code: 'invalid_request',
      type: 'invalid_request_error',
    });
    const absent = await client.completions.create({ ...completion, model: 'x' }).catch((e: unknown) => e);
    expect(absent).toBeInstanceOf(NotFoundError);
    expect(absent).toMatchObject({ code: 'model_not_found' });
  });
});

describe('beside OpenAI’s routes', () => {
  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await replica.post(path, body);
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  };

  test('a conversation has the tokens that a chat is charged for, and they are its prompt', async () => {
    const { prompt } = await post<{ prompt: string }>('/apply-template', { messages });
    const { tokens, count } = await post<{ tokens: number[]; count: number }>('/tokenize', { messages });
    expect(await post('/detokenize', { tokens })).toEqual({ prompt });
    const { choices, usage } = await client.chat.completions.create(chat);
    expect(usage!.prompt_tokens).toBe(count);
    const { text } = await post<{ text: string }>('/generate', {
      prompt,
      add_special_tokens: false,
      temperature: 0,
      max_tokens: 48,
    });
    expect(text).toBe(choices[0]!.message.content);
  });

  test('generate holds its answer to a schema', async () => {
    const schema = {
      type: 'object',
      properties: { x: { type: 'integer', maximum: 9, minimum: 0 } },
      required: ['x'],
    };
    const body = { prompt: 'A pod', schema: { ...schema, additionalProperties: false }, temperature: 1.5 };
    const { text } = await post<{ text: string }>('/generate', body);
    expect(JSON.parse(text)).toEqual({ x: expect.any(Number) });
  });

  test('warmup generates', async () => {
    expect(await post('/warmup', {})).toMatchObject({ model: 'demo', usage: { completion_tokens: 4 } });
  });
});
