// Pages of other origins: what a browser is answered, with keys, at every kind of answer.

import { afterEach, expect, test } from '@jest/globals';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { bearer, body, keys } from './keyed-server.fixture.js';

const page = 'https://chat.example';
const path = '/v1/chat/completions';
const asked = 'authorization,content-type,x-stainless-lang';

let server: ScriptedServer;
afterEach(() => server.stop());
const start = async (corsOrigins: readonly string[], keyed = true): Promise<void> => {
  server = await ScriptedServer.start({ corsOrigins, access: keyed ? { keys } : {} });
};

function preflight(origin: string, headers = asked): Promise<Response> {
  return fetch(server.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': headers,
    },
  });
}

const allowed = (response: Response): string | null => response.headers.get('access-control-allow-origin');

test.each([
  [[page, 'tauri://localhost'], page, page],
  [[page, 'tauri://localhost'], 'tauri://localhost', 'tauri://localhost'],
  [['*'], page, '*'],
  [['*'], 'null', '*'],
])('with %j a preflight of %s is answered without a key', async (origins, origin, answer) => {
  await start(origins);
  const response = await preflight(origin);
  expect(response.status).toBe(204);
  expect(allowed(response)).toBe(answer);
  expect(response.headers.get('access-control-allow-methods')?.split(', ')).toEqual(
    expect.arrayContaining(['GET', 'POST']),
  );
  expect(response.headers.get('access-control-allow-headers')).toBe(asked);
  expect(response.headers.get('access-control-max-age')).toBe('600');
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});

test.each([
  [[], page],
  [[page], 'https://chat.example.evil.example'],
  [[page], 'http://chat.example'],
  [[page], 'null'],
])('with %j a preflight of %s is answered as any request without a key', async (origins, origin) => {
  await start(origins);
  const response = await preflight(origin);
  expect(response.status).toBe(401);
  expect(allowed(response)).toBeNull();
});

test('OPTIONS that is no preflight needs a key as before', async () => {
  await start([page]);
  const headers = { origin: page };
  expect((await fetch(server.url + path, { method: 'OPTIONS', headers })).status).toBe(401);
});

test.each([
  ['an answer', { ...body }, bearer('free'), 200],
  ['a stream', { ...body, stream: true }, bearer('free'), 200],
  ['a refusal of the key', body, {}, 401],
  ['a refusal of the body', { ...body, temperature: 9 }, bearer('free'), 400],
])('the page may read %s, with its headers', async (_, sent, headers: Record<string, string>, status) => {
  await start([page]);
  const response = await server.post('/v1/completions', sent, { ...headers, origin: page });
  await response.text();
  expect([response.status, allowed(response)]).toEqual([status, page]);
  expect(response.headers.get('access-control-expose-headers')).toBe('*');
  expect(response.headers.get('vary')).toContain('Origin');
});

test('caches keep answers of one origin from another, also where no origin was sent', async () => {
  await start([page], false);
  const response = await server.get('/v1/models');
  expect([allowed(response), response.headers.get('vary')]).toEqual([null, 'Origin']);
});

test('without origins no answer has a header of the protocol', async () => {
  await start([], false);
  const response = await server.get('/v1/models', { origin: page });
  const names = [...response.headers.keys()];
  expect(names.filter((name) => name.startsWith('access-control') || name === 'vary')).toEqual([]);
});
