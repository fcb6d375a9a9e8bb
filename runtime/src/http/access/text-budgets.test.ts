// Texts that are counted, rendered or embedded but not generated from: what they cost a key, and what is refused.

import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { byteIds, endless, says } from '../scripted-engine.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';
import type { Access } from './access.js';
import { bearer, body, metric, startKeyedServer, tick, type KeyedServer } from './keyed-server.fixture.js';

let server: ScriptedServer;
let ledger: KeyedServer['ledger'];
const start = async (access?: Partial<Access>): Promise<void> => {
  ({ server, ledger } = await startKeyedServer(access));
};
afterEach(() => server.stop());

describe('texts that are not generated from', () => {
  const text = 'x'.repeat(300);
  const messages = [{ role: 'user', content: text }];
  const ids = byteIds(text);
  const choices = Array.from({ length: 5 }, (_, index) => ({ index, token_ids: ids.slice(0, 60) }));

  const costly: [string, object][] = [
    ['/tokenize', { prompt: text }],
    ['/detokenize', { tokens: ids }],
    ['/apply-template', { messages }],
    ['/v1/chat/completions/render', { messages, truncate_prompt_tokens: 9 }],
    ['/v1/completions/render', { prompt: text, truncate_prompt_tokens: 9 }],
    ['/v1/chat/completions/derender', { generate_response: { choices } }],
    ['/v1/messages/count_tokens', { model: 'tiny', messages }],
    ['/v1/responses/input_tokens', { model: 'tiny', input: text }],
  ];

  test.each(costly)('of %s are accounted, and bill no tokens', async (path, request) => {
    await start();
    const response = await server.post(path, request, bearer('small'));
    expect([response.status, response.headers.get('x-ratelimit-remaining-tokens')]).toEqual([200, '60']);
    const [record] = await ledger.accounted(1);
    expect(record).toMatchObject({
      id: response.headers.get('x-request-id'),
      key: 'small',
      route: path,
      promptTokens: 0,
      completionTokens: 0,
      finish: [],
    });
    expect(record!.textTokens).toBeGreaterThan(70);
  });

  test.each([...costly, ['/v1/embeddings', { input: 'x' }], ['/generate', { prompt: 'x' }], ['/warmup', {}]])(
    'a key without tokens left gets no work of %s, not even its body read',
    async (path, request) => {
      await start();
      server.script = says('x'.repeat(30));
      for (let i = 0; i < 2; i++) await server.post('/v1/completions', body, bearer('small'));
      await ledger.accounted(2);
      const encode = jest.spyOn(server.parts.lifecycle.model!.tokenizer, 'encode');
      const render = jest.spyOn(server.parts.lifecycle.model!.chatTemplate!, 'render');
      const open = jest.spyOn(server.parts.bodies, 'open');
      const asked = server.engine.requests.length;
      expect((await server.post(path, request, bearer('small'))).status).toBe(429);
      expect([encode, render, open].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0]);
      expect(server.engine.requests).toHaveLength(asked);
    },
  );

  test('have a budget of ten times the key’s, and refused requests spend of it', async () => {
    await start();
    const limit = 'llmservice_key_refused_total{model_name="tiny",key="small",limit="textTokensPerMinute"}';
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await server.post('/tokenize', { prompt: text }, bearer('small'))).status);
    // Far too long for the context, each time.
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await server.post('/v1/completions', body, bearer('small'));
    expect([refused.status, await metric(server, limit)]).toEqual([429, 2]);
    expect(await refused.text()).toContain('textTokensPerMinute: 600');
    ledger.now += 60_000;
    const long = { prompt: 'x'.repeat(2500) };
    expect((await server.post('/v1/completions', long, bearer('small'))).status).toBe(400);
    expect((await server.post('/v1/completions', long, bearer('small'))).status).toBe(429);
  });

  test('are what a body costs that is no request', async () => {
    await start();
    const refused = { prompt: 'x', surprise: 'x'.repeat(2500) };
    expect((await server.post('/v1/completions', refused, bearer('small'))).status).toBe(400);
    await tick();
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(429);
    ledger.now += 60_000;
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(200);
  });

  test('count among the requests of a key that run at once, and end when their client goes', async () => {
    await start();
    const { chatTemplate } = server.parts.lifecycle.model!;
    jest.spyOn(chatTemplate!, 'render').mockImplementationOnce(() => new Promise(() => undefined));
    const client = new AbortController();
    const asked = fetch(`${server.url}/apply-template`, {
      method: 'POST',
      body: JSON.stringify({ messages }),
      headers: bearer('single'),
      signal: client.signal,
    }).catch(() => undefined);
    while (server.parts.running.size === 0) await tick();
    expect((await server.post('/tokenize', { prompt: 'x' }, bearer('single'))).status).toBe(429);
    client.abort();
    await asked;
    while (server.parts.running.size > 0) await tick();
    expect((await server.post('/tokenize', { prompt: 'x' }, bearer('single'))).status).toBe(200);
  });

  test('are refused with the rest where the server is full', async () => {
    await start({ keys: null });
    server.script = endless;
    const full = Array.from({ length: 8 }, () => server.post('/v1/completions', { ...body, stream: true }));
    const streams = await Promise.all(full);
    for (const [path, request] of costly) expect((await server.post(path, request)).status).toBe(503);
    await Promise.all(streams.map((stream) => stream.body!.cancel()));
  });
});
