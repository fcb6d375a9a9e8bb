// Whose share of the engine a request takes, how urgent it may be, and whose cached prompts it uses.

import { afterEach, describe, expect, test } from '@jest/globals';
import { output, says } from '../scripted-engine.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';
import type { Access } from './access.js';
import { bearer, body, startKeyedServer } from './keyed-server.fixture.js';

let server: ScriptedServer;
const start = async (access?: Partial<Access>): Promise<void> => {
  ({ server } = await startKeyedServer(access));
};
afterEach(() => server.stop());

describe('the share of the engine', () => {
  test.each<[string, object, object]>([
    ['free', { user: 'someone' }, { fairnessKey: 'free', priority: 0 }],
    ['free', { priority: 5 }, { fairnessKey: 'free', priority: 5 }],
    ['urgent', {}, { fairnessKey: 'urgent', priority: -5 }],
    ['urgent', { priority: 0 }, { fairnessKey: 'urgent', priority: -2 }],
  ])('of the key %s, asked with %j', async (id, fields, expected) => {
    await start();
    await server.post('/v1/completions', { ...body, ...fields }, bearer(id));
    expect(server.engine.requests[0]).toMatchObject(expected);
  });

  test('of a request that asks for more than its key may is refused', async () => {
    await start();
    const response = await server.post('/v1/completions', { ...body, priority: -4 }, bearer('urgent'));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'priority', message: expect.stringContaining('send -3 or more') },
    });
    expect(server.engine.requests).toEqual([]);
  });

  test('without keys is the user’s, at the priority that is asked for', async () => {
    await start({ keys: null });
    await server.post('/v1/completions', { ...body, user: 'someone', priority: -8 });
    expect(server.engine.requests[0]).toMatchObject({ fairnessKey: 'someone', priority: -8 });
  });

  test.each(['/v1/completions', '/v1/embeddings', '/generate'])(
    'without keys is bounded at %s, and the refusal says by what',
    async (path) => {
      await start({ keys: null, mostUrgentPriority: -1 });
      const asked = { prompt: 'abc', priority: -2 };
      const refused = await server.post(
        path,
        path.endsWith('embeddings') ? { input: 'abc', priority: -2 } : asked,
      );
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        error: {
          param: 'priority',
          message: 'priority -2 is more urgent than requests may be here; send -1 or more',
        },
      });
      expect(server.engine.requests).toEqual([]);
      await server.post('/v1/completions', { ...body, priority: -1 });
      expect(server.engine.requests).toMatchObject([{ priority: -1 }]);
    },
  );
});

describe('cached prompts', () => {
  const salts = async (...asked: [id: string, fields: object][]): Promise<(string | null)[]> => {
    for (const [id, fields] of asked) {
      server.script = says('x');
      expect((await server.post('/v1/completions', { ...body, ...fields }, bearer(id))).status).toBe(200);
      server.script = async function* () {
        yield await Promise.resolve({
          ...output([]),
          embedding: Float32Array.of(1),
          finish: 'stop' as const,
        });
      };
      const embedded = await server.post('/v1/embeddings', { input: 'abc', ...fields }, bearer(id));
      expect(embedded.status).toBe(200);
    }
    return server.engine.requests.map(({ cacheSalt }) => cacheSalt);
  };

  test('are of one key, or of its group, and within it of one cache_salt', async () => {
    await start();
    const found = await salts(
      ['free', {}],
      ['single', {}],
      ['free', { cache_salt: 'x' }],
      ['one', {}],
      ['two', {}],
      ['two', { cache_salt: 'x' }],
    );
    const [free, , single, , salted, , one, , two] = found;
    // A completion and an embedding each.
    expect(found.filter((_, i) => i % 2 === 0)).toEqual(found.filter((_, i) => i % 2 === 1));
    expect(one).toBe(two);
    expect(new Set([free, single, salted, one, found.at(-1)]).size).toBe(5);
  });

  test('are everybody’s without keys, but for those with a cache_salt', async () => {
    await start({ keys: null });
    await server.post('/v1/completions', body);
    await server.post('/v1/completions', { ...body, cache_salt: 'x' });
    expect(server.engine.requests.map(({ cacheSalt }) => cacheSalt)).toEqual([null, 'x']);
  });
});
