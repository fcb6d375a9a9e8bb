// Answers in OpenAI's Responses, read by OpenAI's own client: streamed with its helper, and whole.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { ApiError } from '../../request/body/api-error.js';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, defaults, responsesClient, tools } from './responses.fixture.js';
import { responsesProtocol } from './responses-protocol.js';

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = responsesClient(server);
});
afterEach(() => server.stop());

describe('a response', () => {
  test.each([true, false])('has reasoning, text and calls, streamed: %s', async (stream) => {
    server.script = thinksAndCalls;
    const asked = { ...body, tools, max_output_tokens: 500 };
    const response = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked);
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'tiny',
      output_text: 'I look.',
      max_output_tokens: 500,
      store: false,
      output: [
        {
          id: expect.stringMatching(/^rs_/),
          type: 'reasoning',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'Which city?' }],
          status: 'completed',
        },
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
          status: 'completed',
        },
        {
          id: expect.stringMatching(/^fc_/),
          type: 'function_call',
          call_id: expect.stringMatching(/^call_/),
          name: 'weather',
          arguments: '{"city": "Zürich"}',
          status: 'completed',
        },
        { type: 'function_call', name: 'time', arguments: '{"city": "Bern"}' },
      ],
    });
    const { usage } = response;
    expect(usage).toMatchObject({
      input_tokens: server.engine.requests[0]!.prompt.length,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 'Which city?'.length + 1 },
    });
    expect(usage!.total_tokens).toBe(usage!.input_tokens + usage!.output_tokens);
  });

  test('is sent as numbered events, each item added, grown and done', async () => {
    server.script = thinksAndCalls;
    const events = [];
    for await (const event of await client.responses.create({ ...body, tools, stream: true }))
      events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace('response.', ''));
    const spoken = (name: string): string[] => [
      'output_item.added',
      'content_part.added',
      `${name}.delta`,
      `${name}.done`,
      'content_part.done',
      'output_item.done',
    ];
    const called = spoken('function_call_arguments').filter((type) => !type.startsWith('content_part'));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'created',
      'in_progress',
      ...spoken('reasoning_text'),
      ...spoken('output_text'),
      ...called,
      ...called,
      'completed',
    ]);
    expect(events[0]).toMatchObject({ response: { status: 'in_progress', output: [], usage: null } });
  });

  test.each([true, false])('is incomplete where the tokens end, streamed: %s', async (stream) => {
    server.script = () => [output(byteIds('Hi')), output([], 'length')];
    const response = stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', status: 'incomplete' }],
    });
  });

  test('that fails on its way says so', async () => {
    server.script = function* () {
      yield output(byteIds('Hi'));
      throw new Error('secret');
    };
    const response = await client.responses.stream(body).finalResponse();
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: expect.not.stringContaining('secret') },
      output_text: 'Hi',
    });
  });

  test('that fails before its first token begins all the same', async () => {
    const { writer } = responsesProtocol.read(body, defaults, 0n);
    const head = { id: 'resp_1', created: 1, model: 'tiny' };
    const failure = writer(head, server.tokenizer).failure(ApiError.of('queue_full', 'full'));
    const stream = new Response(failure.join(''), { headers: { 'content-type': 'text/event-stream' } });
    const reader = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch: () => Promise.resolve(stream) });
    expect(await reader.responses.stream(body).finalResponse()).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'full', llmservice_code: 'queue_full' },
    });
  });

  test('may be nothing at all', async () => {
    server.script = scriptOf();
    expect(await client.responses.create(body)).toMatchObject({ status: 'completed', output: [] });
  });
});

test('the format of a text that is to have none, and a tool that says little, are reported in full', async () => {
  const asked = { ...body, text: { format: null }, tools: [{ type: 'function', name: 'time' }] };
  const answer = await server.post('/v1/responses', asked);
  expect(await answer.json()).toMatchObject({
    text: { format: { type: 'text' } },
    tools: [{ type: 'function', name: 'time', description: null, parameters: null, strict: false }],
  });
});

test('what is asked to be stored is answered, and marked as not stored', async () => {
  expect(await client.responses.create({ ...body, store: true })).toMatchObject({
    status: 'completed',
    store: false,
  });
});
