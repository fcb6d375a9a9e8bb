// Names that are whole numbers, which JavaScript puts first: the engine and the model get them where the request has them, on
// every route that takes a schema or an earlier call.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const properties = '"properties":{"b":{"type":"string"},"10":{"type":"null"},"2":{"const":{"z":1,"0":2}}}';
const schema = `{"type":"object",${properties}}`;
/** As bodies are written below, before the schema is put in. */
const here = { put: 'the schema' };
const put = (body: object, text: string): string =>
  JSON.stringify(body).replaceAll(JSON.stringify(here), () => text);

const messages = [{ role: 'user', content: 'x' }];
const tool = { name: 'f', parameters: here };
const required = { tool_choice: 'required' };
const format = { type: 'json_schema', name: 'a', schema: here };

test.each<[string, string, object]>([
  [
    'chat',
    '/v1/chat/completions',
    { messages, response_format: { type: 'json_schema', json_schema: { name: 'a', schema: here } } },
  ],
  ['chat, streamed', '/v1/chat/completions', { messages, stream: true, guided_json: here }],
  ['completions', '/v1/completions', { prompt: 'x', structured_outputs: { json: here } }],
  ['Responses', '/v1/responses', { model: 'tiny', input: 'x', text: { format } }],
  [
    'Messages',
    '/v1/messages',
    {
      model: 'tiny',
      messages,
      max_tokens: 9,
      output_config: { format: { type: 'json_schema', schema: here } },
    },
  ],
  [':predict', '/v1/models/tiny:predict', { prompt: 'x', guided_json: here }],
  ['/generate', '/generate', { prompt: 'x', schema: here }],
  [
    'tools of chat',
    '/v1/chat/completions',
    { messages, ...required, tools: [{ type: 'function', function: tool }] },
  ],
  [
    'tools of Responses',
    '/v1/responses',
    { model: 'tiny', input: 'x', ...required, tools: [{ type: 'function', ...tool }] },
  ],
  [
    'tools of Messages',
    '/v1/messages',
    {
      model: 'tiny',
      messages,
      max_tokens: 9,
      tool_choice: { type: 'any' },
      tools: [{ name: 'f', input_schema: here }],
    },
  ],
])('a schema of %s', async (_, path, body) => {
  const response = await server.post(path, put(body, schema));
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  expect(server.engine.requests[0]!.grammar!.text).toContain(properties);
});

test('a schema that is text', async () => {
  await server.chat({ guided_json: schema });
  expect(server.engine.requests[0]!.grammar!.text).toBe(schema);
});

const input = '{"b":1,"10":{"z":2.0,"0":3},"2":"x"}';
const called = { id: 'call_1', name: 'f', input: here };

test.each<[string, string, object]>([
  [
    'chat',
    '/v1/chat/completions',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: input } }],
        },
      ],
    },
  ],
  [
    'Messages',
    '/v1/messages',
    {
      model: 'tiny',
      max_tokens: 9,
      messages: [
        ...messages,
        { role: 'assistant', content: [{ type: 'tool_use', ...called }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'y' }] },
      ],
    },
  ],
])('an earlier call of %s', async (_, path, body) => {
  const response = await server.post(path, put(body, input));
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  const { prompt } = server.engine.requests[0]!;
  expect(server.tokenizer.decode(prompt, { skipSpecialTokens: false }).replaceAll(' ', '')).toContain(
    `[f${input}]`,
  );
});
