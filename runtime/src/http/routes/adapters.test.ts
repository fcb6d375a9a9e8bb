// Adapters as models of their own: chosen by name, listed with their parent, and gone when they are removed.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { json } from '../answers.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
  const { adapters } = server.parts.names;
  const used = adapters.reserve('legal', 1);
  if (used === null) throw new Error('there is no room');
  adapters.serve({ name: 'legal', uri: 's3://adapters/legal/', used });
});
afterEach(() => server.stop());

const ask = (model?: string): Promise<Response> =>
  server.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }] });

test('a request uses the adapter that its model names, and none otherwise', async () => {
  for (const model of ['legal', 'tiny', 'small', undefined]) {
    expect(await json(await ask(model))).toMatchObject({ model: model ?? 'tiny' });
  }
  const none = null;
  const used = { number: 1, key: 'legal 1' };
  expect(server.engine.requests.map(({ adapter }) => adapter)).toEqual([used, none, none, none]);
});

test.each([
  ['/v1/completions', { model: 'legal', prompt: 'x' }],
  ['/v1/responses', { model: 'legal', input: 'x' }],
  ['/v1/messages', { model: 'legal', max_tokens: 4, messages: [{ role: 'user', content: 'x' }] }],
  ['/v1/models/legal:predict', { prompt: 'x' }],
])('%s takes it', async (path, body) => {
  expect((await server.post(path, body)).status).toBe(200);
  expect(server.engine.requests).toMatchObject([{ adapter: { number: 1 } }]);
});

test('the path of :predict says which, and a body that names another is refused', async () => {
  const answer = await server.post('/v1/models/tiny:predict', { prompt: 'x', model: 'legal' });
  expect(answer.status).toBe(404);
  expect(server.engine.requests).toEqual([]);
});

test('it is listed with the model as its parent', async () => {
  const list = await json(await server.get('/v1/models'));
  expect(list).toMatchObject({
    models: ['tiny', 'small', 'legal'],
    data: [
      { id: 'tiny', root: 'tiny', parent: null },
      { id: 'small', root: 'tiny', parent: null },
      { id: 'legal', root: 's3://adapters/legal/', parent: 'tiny', object: 'model' },
    ],
  });
  expect(await json(await server.get('/v1/models/legal'))).toMatchObject({ name: 'legal', parent: 'tiny' });
});

test('one that is removed is not found, and others are named', async () => {
  expect((await ask('other')).status).toBe(404);
  await server.parts.names.adapters.remove('legal');
  const answer = await ask('legal');
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({
    error: { code: 'model_not_found', message: 'the model "legal" does not exist here; served: tiny, small' },
  });
});
