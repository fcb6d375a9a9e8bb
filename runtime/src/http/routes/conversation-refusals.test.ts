// Requests of conversations that are refused, and what their errors say.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { bearer, keys } from '../access/keyed-server.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallStore } from '../stored-responses/stored-response.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ access: { keys }, storedResponses: smallStore() });
});
afterEach(() => server.stop());

const user = (content: string) => ({ role: 'user' as const, content });
const post = (path: string, body: object): Promise<Response> => server.post(path, body, bearer('free'));

async function refusalOf(answer: Response): Promise<unknown> {
  const { error } = (await answer.json()) as { error: { code: string; param: string | null } };
  return [answer.status, error.code, error.param];
}

test.each<[string, string, object | null, string]>([
  ['POST', '', { items: Array.from({ length: 21 }, () => user('x')) }, 'items'],
  ['POST', '', { items: [{ type: 'item_reference', id: 'msg_1' }] }, 'items.0.type'],
  ['POST', '', { items: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'items.0.content.0'],
  ['POST', '', { metadata: { a: 1 } }, 'metadata.a'],
  ['POST', '', { metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
  ['POST', '', { stream: false }, 'stream'],
  ['POST', '/ID', {}, 'metadata'],
  ['POST', '/ID/items', {}, 'items'],
  ['GET', '/ID/items?limit=101', null, 'limit'],
  ['GET', '/ID/items?after=msg_1', null, 'after'],
  ['GET', '/ID/items/msg_1?include[]=a', null, 'include'],
])('%s %s with %j is refused', async (method, path, asked, param) => {
  const { id } = (await (await post('/v1/conversations', {})).json()) as { id: string };
  const url = `${server.url}/v1/conversations${path.replace('ID', id)}`;
  const answer = await fetch(url, {
    method,
    headers: bearer('free'),
    body: asked === null ? null : JSON.stringify(asked),
  });
  expect(await refusalOf(answer)).toEqual([400, 'invalid_request', param]);
});

test.each<[object, number, string, string | null]>([
  [{ conversation: 'conv_1' }, 404, 'conversation_not_found', 'conversation'],
  [
    { conversation: 'conv_1', previous_response_id: 'resp_1' },
    400,
    'invalid_request',
    'previous_response_id',
  ],
  [{ conversation: '' }, 400, 'invalid_request', 'conversation'],
])('a response with %j is refused', async (asked, status, code, param) => {
  expect(await refusalOf(await post('/v1/responses', { input: 'x', ...asked }))).toEqual([
    status,
    code,
    param,
  ]);
});

test('where nothing is stored, the error says how it would be', async () => {
  const without = await ScriptedServer.start();
  try {
    for (const [method, path] of [
      ['POST', ''],
      ['GET', '/conv_1'],
      ['POST', '/conv_1/items'],
      ['DELETE', '/conv_1/items/msg_1'],
    ] as const) {
      const answer = await fetch(`${without.url}/v1/conversations${path}`, { method });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        error: {
          code: 'conversation_not_found',
          message: expect.stringContaining('--stored-responses-bytes'),
        },
      });
    }
  } finally {
    await without.stop();
  }
});
