// Requests with and without API keys, at a server with the real routes: who is let in, and what health shows to whom.

import { afterEach, describe, expect, test } from '@jest/globals';
import { isAnthropicPath, isInferencePath } from '@llmservice/crds';
import { EventEmitter, once } from 'node:events';
import { KeySet } from '@llmservice/crds/keys';
import { mountedRoutes } from '../api/route-table.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';
import type { Access } from './access.js';
import { bearer, body, keys, metric, startKeyedServer } from './keyed-server.fixture.js';

let server: ScriptedServer;
const start = async (access?: Partial<Access>): Promise<void> => {
  ({ server } = await startKeyedServer(access));
};
afterEach(() => server.stop());

describe('a server with keys', () => {
  test.each([
    ...mountedRoutes
      .filter(({ path }) => !['/metrics', '/ui'].includes(path) && !/health|stream-check/.test(path))
      .map(({ method, path }) => [method.toUpperCase(), path.replace('{name}', 'tiny')]),
    ['GET', '/surprise'],
    ['GET', '/health/'],
    ['OPTIONS', '/v1/models'],
  ])('lets nobody in at %s %s without one', async (method, path) => {
    await start();
    const init = method === 'POST' ? { method, body: '{' } : { method };
    const response = await fetch(server.url + path, init);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const message = expect.stringContaining('Authorization: Bearer KEY');
    if (isInferencePath(path)) {
      const body = { error: message, code: 'invalid_api_key', param: null };
      expect(await response.json()).toEqual(body);
      return;
    }
    expect(await response.json()).toEqual({
      ...(isAnthropicPath(path) ? { type: 'error', request_id: null } : {}),
      error: {
        message,
        type: isAnthropicPath(path) ? 'authentication_error' : 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    });
  });

  test.each<[string, Record<string, string>, number]>([
    ['OpenAI’s clients', bearer('free'), 200],
    ['Anthropic’s clients', { 'x-api-key': 'secret-free' }, 200],
    ['a client that writes bearer small', { authorization: 'bearer secret-free' }, 200],
    [
      'a client behind a proxy with a password',
      { authorization: 'Basic eDp5', 'x-api-key': 'secret-free' },
      200,
    ],
    ['a wrong key', { authorization: 'Bearer secret-nobody' }, 401],
    ['a key with something behind it', { authorization: 'Bearer secret-free secret-free' }, 401],
    ['no key behind the word', { authorization: 'Bearer' }, 401],
    ['the wrong place', { 'x-api-key': 'Bearer secret-free' }, 401],
  ])('%s', async (_, headers, status) => {
    await start();
    const response = await server.post('/v1/completions', body, headers);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('secret');
    expect(await metric(server, 'llmservice_unauthorized_total{model_name="tiny"}')).toBe(
      status === 401 ? 1 : 0,
    );
  });

  test.each(['/health', '/healthz/live', '/healthz/ready', '/healthz/startup', '/metrics'])(
    'shows %s',
    async (path) => {
      await start();
      expect((await server.get(path)).status).toBe(200);
    },
  );

  test.each(['/v1/stream-check', '/openai/v1/stream-check'])('answers %s', async (path) => {
    await start();
    expect((await server.post(path, {})).status).toBe(200);
  });

  test('lets in nobody whose key is withdrawn while the body comes', async () => {
    let known = keys;
    const looked = new EventEmitter();
    const find: KeySet['find'] = (presented) => {
      looked.emit('up');
      return known.find(presented);
    };
    await start({ keys: { find, withId: () => null } });
    const asked = once(looked, 'up');
    let rest: ReadableStreamDefaultController<Uint8Array> | null = null;
    const text = Buffer.from(JSON.stringify(body));
    const slow = new ReadableStream<Uint8Array>({
      start: (controller) => {
        rest = controller;
        controller.enqueue(text.subarray(0, 5));
      },
    });
    const url = `${server.url}/v1/completions`;
    const answered = fetch(url, { method: 'POST', body: slow, headers: bearer('free'), duplex: 'half' });
    await asked;
    known = new KeySet([]);
    rest!.enqueue(text.subarray(5));
    rest!.close();
    expect((await answered).status).toBe(401);
    expect(server.engine.requests).toEqual([]);
  });

  test('shows metrics to keys only where that is said', async () => {
    await start({ protectMetrics: true });
    expect((await server.get('/metrics')).status).toBe(401);
    expect((await server.get('/metrics', bearer('free'))).status).toBe(200);
    expect((await server.get('/health')).status).toBe(200);
  });
});

describe('health', () => {
  const paths = ['/health', '/healthz/ready', '/v2/health/ready'];

  test.each(paths)('%s shows its state to all, and the rest to who has a key', async (path) => {
    await start();
    server.parts.lifecycle.fail({
      reason: 'S3Unavailable',
      message: 'https://user:hunter2@s3.internal is out of reach',
    });
    for (const headers of [{}, bearer('stranger')]) {
      const response = await server.get(path, headers);
      expect(response.status).toBe(503);
      const text = await response.text();
      expect(JSON.parse(text)).toEqual({
        ...(path.startsWith('/v2') ? { ready: false } : {}),
        state: 'failed',
        load: null,
      });
      expect(text).not.toMatch(/hunter2|tiny|MI300X/);
    }
    expect(await (await server.get(path, bearer('free'))).json()).toMatchObject({
      model: 'tiny',
      failure: { reason: 'S3Unavailable' },
    });
  });

  test('shows everything on a server without keys', async () => {
    await start({ keys: null });
    expect(await (await server.get('/health')).json()).toMatchObject({
      model: 'tiny',
      engine: { numBlocks: 8 },
    });
  });

  test('and liveness is shown to all', async () => {
    await start();
    for (const path of ['/healthz/live', '/healthz/startup', '/v2/health/live'])
      expect((await server.get(path)).status).toBe(200);
  });
});
