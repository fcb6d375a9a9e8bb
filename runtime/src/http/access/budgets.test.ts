// What the budgets of a key refuse, what refused requests spend, and when the next one is taken.

import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { endless, says } from '../scripted-engine.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';
import type { Access } from './access.js';
import { bearer, body, metric, startKeyedServer, tick, type KeyedServer } from './keyed-server.fixture.js';

let server: ScriptedServer;
let ledger: KeyedServer['ledger'];
const start = async (access?: Partial<Access>): Promise<void> => {
  ({ server, ledger } = await startKeyedServer(access));
};
afterEach(() => server.stop());

describe('budgets', () => {
  test('refuse with a Retry-After that is true, say what is left, and end nothing that began', async () => {
    await start();
    server.script = says('x'.repeat(30));
    // 10 of the prompt (one token per byte, and one that begins it) and 31 of the answer; the bucket has 60.
    const first = await server.post('/v1/completions', body, bearer('small'));
    expect(first.status).toBe(200);
    expect([
      first.headers.get('x-ratelimit-limit-tokens'),
      first.headers.get('x-ratelimit-remaining-tokens'),
      first.headers.get('x-ratelimit-reset-tokens'),
    ]).toEqual(['60', '50', '10s']);
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(200);
    // 82 spent of 60: 22 owed, and 10 for the prompt.
    const refused = await server.post('/v1/completions', body, bearer('small'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '32']);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'rate_limit_exceeded',
        type: 'rate_limit_error',
        message: expect.stringContaining('tokensPerMinute'),
      },
    });
    ledger.now += 31_000;
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(429);
    ledger.now += 1_000;
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(200);
    expect((await server.post('/v1/completions', body, bearer('free'))).status).toBe(200);
    expect(
      await metric(
        server,
        'llmservice_key_refused_total{model_name="tiny",key="small",limit="tokensPerMinute"}',
      ),
    ).toBe(2);
    await ledger.accounted(4);
  });

  test('ask for all prompts of a request at once, and spend nothing where one of them is refused', async () => {
    await start();
    const prompts = (count: number): object => ({
      prompt: Array<string>(count).fill('abcdefghi'),
      max_tokens: 1,
    });
    const long = 'x'.repeat(64);
    for (let i = 0; i < 3; i++) {
      const response = await server.post(
        '/v1/completions',
        { prompt: ['x'.repeat(50), long] },
        bearer('small'),
      );
      expect(response.status).toBe(400);
    }
    expect((await server.post('/v1/completions', prompts(1), bearer('small'))).status).toBe(200);
    expect((await server.post('/v1/completions', prompts(6), bearer('small'))).status).toBe(429);
    expect((await server.post('/v1/completions', prompts(4), bearer('small'))).status).toBe(200);
    await ledger.accounted(2);
  });

  test('spend nothing on a prompt whose client goes while it is prepared', async () => {
    await start();
    const { chatTemplate } = server.parts.lifecycle.model!;
    const begun = new Promise<void>((resolve) => {
      jest.spyOn(chatTemplate!, 'render').mockImplementationOnce(async () => {
        resolve();
        while (!server.parts.running.values().next().value!.controller.signal.aborted) await tick();
        return 'x'.repeat(50);
      });
    });
    const client = new AbortController();
    const { signal } = client;
    const chat = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] });
    const headers = bearer('small');
    const url = `${server.url}/v1/chat/completions`;
    const asked = fetch(url, { method: 'POST', body: chat, headers, signal }).catch(() => undefined);
    await begun;
    client.abort();
    await asked;
    while (server.parts.running.size > 0) await tick();
    const response = await server.post('/v1/completions', body, headers);
    expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('50');
  });

  test('count requests that run at once', async () => {
    await start();
    server.script = endless;
    const running = await server.post('/v1/completions', { ...body, stream: true }, bearer('single'));
    const refused = await server.post('/v1/completions', body, bearer('single'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    await running.body!.cancel();
    await ledger.accounted(1);
    server.script = says('x');
    expect((await server.post('/v1/completions', body, bearer('single'))).status).toBe(200);
  });

  test('give back the place of a request that is refused later', async () => {
    await start();
    for (let i = 0; i < 3; i++) {
      const response = await server.post('/v1/completions', { prompt: 'x'.repeat(64) }, bearer('single'));
      expect(response.status).toBe(400);
    }
    expect(ledger.records).toEqual([]);
  });
});
