// Requests of OpenAI's Responses that are refused, as OpenAI's own client reads it.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, responsesClient } from './responses.fixture.js';

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = responsesClient(server);
});
afterEach(() => server.stop());

test.each<[object, string, string]>([
  [{ surprise: 1 }, 'surprise', 'surprise is not a known field'],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id', 'nothing is stored here'],
  [{ background: true }, 'background', 'nothing is stored here'],
  [{ conversation: 'conv_1' }, 'conversation', 'without --stored-responses-bytes (server.storedResponses)'],
  [{ conversation: { id: 'conv_1' } }, 'conversation', 'nothing is stored here'],
  [{ conversation: { name: 'a' } }, 'conversation', 'must be the id of a conversation, or {"id": ID}'],
  [
    { include: ['file_search_call.results'] },
    'include.0',
    'include.0 must be one of "reasoning.encrypted_content", "message.output_text.logprobs"',
  ],
  [{ top_logprobs: 2 }, 'top_logprobs', 'top_logprobs needs include: ["message.output_text.logprobs"]'],
  [
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } },
    'tool_choice',
    'tool_choice must be "none", "auto", "required", {"type": "function" or "custom", "name"',
  ],
  [
    { tools: [{ type: 'web_search', external_web_access: false }] },
    'tools.0.name',
    'tools.0.type must be one of "function", "namespace"',
  ],
  [
    { tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'custom', name: 'b' }] }] },
    'tools.0.tools.0.type',
    'must be "function"',
  ],
  [
    {
      tools: [
        { type: 'function', name: 'time' },
        {
          type: 'namespace',
          name: 'a',
          tools: [{ type: 'function', name: 'b', strict: true, parameters: { not: {} } }],
        },
      ],
    },
    'tools.1.tools.0.parameters.not',
    'tools.1.tools.0.parameters.not is not supported',
  ],
  [
    {
      tools: ['a', 'b'].map((name) => ({
        type: 'namespace',
        name,
        tools: Array.from({ length: 65 }, (_, index) => ({ type: 'function', name: `f${String(index)}` })),
      })),
    },
    'tools',
    'tools has 130 functions; the most are 128',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'a' }] }] },
    'input.0.content.0',
    'is an image, and the model reads text only',
  ],
  [{ input: [{ type: 'function_call', name: 'a' }] }, 'input.0.call_id', 'input.0.arguments is required'],
  [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0.type', 'nothing is stored here'],
  [
    { input: [{ type: 'configuration_update', reasoning: { effort: 'low' } }] },
    'input.0.type',
    'send reasoning and text with the request',
  ],
  [
    { input: [{ type: 'function_call', call_id: 'a', name: null, arguments: '{}' }] },
    'input.0.name',
    'input.0.name is required',
  ],
  [
    { input: [{ type: 'function_call_output', name: 'time', output: '1' }] },
    'input.0.call_id',
    'is required',
  ],
  [{ tools: [{ type: 'function', name: 'a', async: true }] }, 'tools.0.async', 'must be false'],
  [{ tools: [{ type: 'custom', name: 'a', async: true }] }, 'tools.0.async', 'must be false'],
  [
    { input: [{ role: 'assistant', content: [{ type: 'refusal' }] }] },
    'input.0.content.0.refusal',
    'is required',
  ],
  [{ input: [{ content: 'x' }] }, 'input.0.role', 'is required'],
  [
    { input: [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'x' }] }] },
    'input.0.summary.0.text',
    'send the reasoning itself as content',
  ],
  [
    { input: [{ type: 'reasoning', summary: [], content: [], encrypted_content: 'x' }] },
    'input.0.encrypted_content',
    'send the reasoning itself as content',
  ],
  [{ max_output_tokens: 5000 }, 'max_output_tokens', 'max_output_tokens asks for 5000 more'],
  [{ input: 'x'.repeat(5000) }, 'input', 'but the context is'],
  [
    { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object', not: {} } } } },
    'text.format.schema.not',
    'text.format.schema.not is not supported',
  ],
  [
    { text: { format: { type: 'json_object', schema: { not: {} } } } },
    'text.format.schema.not',
    'text.format.schema.not is not supported',
  ],
  [
    { text: { format: { type: 'text', schema: {} } } },
    'text.format.schema',
    'send it with type: json_schema',
  ],
])('%j is refused', async (change, param, message) => {
  const error = await client.responses
    .create({ ...body, ...change } as OpenAI.Responses.ResponseCreateParams)
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(APIError);
  const requestID = expect.stringMatching(/^resp_/);
  expect(error).toMatchObject({ status: 400, code: expect.any(String), param, requestID });
  expect((error as APIError).message).toContain(message);
});
