// Errors in the words of Anthropic's Messages, as Anthropic's own client reads them.

import type Anthropic from '@anthropic-ai/sdk';
import { APIError } from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../request/body/api-error.js';
import { anthropicError } from '../api/anthropic-error.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, messagesClient, tools, user } from './messages.fixture.js';

let server: ScriptedServer;
let client: Anthropic;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = messagesClient(server);
});
afterEach(() => server.stop());

describe('an error is reported in the words of the protocol:', () => {
  const image = { type: 'image', source: { type: 'url', url: 'http://example.com/a.png' } };
  const toolUse = { type: 'tool_use', id: 'a', name: 'time', input: {} };
  test.each<[object, number, string, string | null, string]>([
    [{ surprise: 1 }, 400, 'invalid_request_error', 'surprise', 'surprise is not a known field'],
    [{ max_tokens: null }, 400, 'invalid_request_error', 'max_tokens', 'max_tokens is required'],
    [{ container: 'a' }, 400, 'invalid_request_error', 'container', 'container is not supported'],
    [
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      400,
      'invalid_request_error',
      'context_management',
      'context_management is not supported',
    ],
    [
      { output_config: { effort: 'none' } },
      400,
      'invalid_request_error',
      'output_config.effort',
      // In JSON, which the client's errors quote.
      'must be one of \\"low\\"',
    ],
    [
      { messages: [user([image as never])] },
      400,
      'invalid_request_error',
      'messages.0.content.0',
      'is an image, and the model reads text only',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      400,
      'invalid_request_error',
      'messages.0.content.0.text',
      'is required',
    ],
    [
      { messages: [{ role: 'user', content: [toolUse] }] },
      400,
      'invalid_request_error',
      'messages.0.content.0',
      'a message of the user has no tool_use block',
    ],
    [
      { messages: [{ role: 'assistant', content: [toolUse] }] },
      400,
      'invalid_request_error',
      'messages.0',
      'tool_result follows',
    ],
    [
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      400,
      'invalid_request_error',
      'tools.0.input_schema',
      'tools.0.type must be \\"custom\\"',
    ],
    [
      { tools: tools.map((tool) => ({ ...tool, defer_loading: true })) },
      400,
      'invalid_request_error',
      'tools',
      'tools are all defer_loading',
    ],
    [
      {
        tools: [tools[0], { ...tools[1], defer_loading: true }],
        tool_choice: { type: 'tool', name: 'time' },
      },
      400,
      'invalid_request_error',
      'tool_choice',
      'tool_choice names time, which is defer_loading',
    ],
    [
      { tools: [{ name: 'a', strict: true, input_schema: { type: 'object', not: {} } }] },
      400,
      'invalid_request_error',
      'tools.0.input_schema.not',
      'tools.0.input_schema.not is not supported',
    ],
    [
      { max_tokens: 5000 },
      400,
      'invalid_request_error',
      'max_tokens',
      'input length and `max_tokens` exceed context limit: 7 + 5000 > 4096',
    ],
    [
      { messages: [user('x'.repeat(5000))] },
      400,
      'invalid_request_error',
      'messages',
      'prompt is too long: 5006 tokens > 4096 maximum',
    ],
    [{ model: 'other' }, 404, 'not_found_error', 'model', 'served: tiny, small'],
  ])('%j', async (change, status, type, param, message) => {
    const error = await client.messages.create({ ...body, ...change }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, type });
    const { requestID } = error as APIError;
    expect(requestID).toMatch(/^msg_/);
    expect((error as APIError).error).toMatchObject({ error: { param }, request_id: requestID });
    expect((error as APIError).message).toContain(message);
  });

  test('a long stop sequence', async () => {
    const response = await server.post('/v1/messages', { ...body, stop_sequences: ['x'.repeat(1025)] });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: 'stop_sequences.0 must NOT have more than 1024 characters' } },
    ]);
  });

  test('a key that is not known, a method that is not taken, a model that is not ready', async () => {
    const locked = await ScriptedServer.start({
      access: { keys: { find: () => null, withId: () => null } },
      serving: false,
    });
    const refused = await locked.post('/v1/messages/count_tokens', body);
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error', code: 'invalid_api_key' } },
    ]);
    await locked.stop();
    const loading = await ScriptedServer.start({ serving: false });
    expect(await (await loading.post('/openai/v1/messages', body)).json()).toMatchObject({
      error: { type: 'overloaded_error', code: 'model_not_ready' },
    });
    expect(await (await loading.get('/v1/messages')).json()).toMatchObject({
      type: 'error',
      error: { code: 'method_not_allowed' },
    });
    await loading.stop();
  });

  test.each([
    ['timeout_error', 'request_timeout'],
    ['conflict_error', 'request_cancelled'],
    ['request_too_large', 'request_too_large'],
  ] as const)('%s for %s', (type, code) => {
    expect(anthropicError(ApiError.of(code, 'why'), null)).toMatchObject({
      type: 'error',
      error: { type, code, message: 'why' },
      request_id: null,
    });
  });

  test('a failure behind the first event', async () => {
    server.script = function* () {
      yield output(byteIds('Hi'));
      throw new Error('secret');
    };
    const failed = await client.messages
      .stream(body)
      .finalMessage()
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({
      type: 'api_error',
      error: { request_id: expect.stringMatching(/^msg_/) },
    });
    expect((failed as APIError).message).not.toContain('secret');
  });
});
