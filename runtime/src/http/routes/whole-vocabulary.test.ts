// vLLM's -1 asks for the log probabilities of the whole vocabulary: every route says what to send instead.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start();
});
afterAll(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const most = 'never the whole vocabulary (-1): send 20 at most';
const named = `${most}, or on chat and completions the ids in question as logprob_token_ids`;
const elsewhere = 'log probabilities are reported by /v1/completions (logprobs: 5)';

test.each<[path: string, body: object, field: string, instead: string]>([
  ['/v1/chat/completions', { messages, logprobs: true }, 'top_logprobs', named],
  ['/v1/chat/completions', { messages }, 'prompt_logprobs', most],
  ['/v1/completions', { prompt: 'x' }, 'logprobs', named],
  ['/v1/completions', { prompt: 'x' }, 'prompt_logprobs', most],
  ['/v1/completions', { prompt: 'x' }, 'top_logprobs', elsewhere],
  ['/v1/responses', { input: 'x' }, 'top_logprobs', named],
  ['/v1/responses', { input: 'x' }, 'prompt_logprobs', elsewhere],
  ...['logprobs', 'top_logprobs', 'prompt_logprobs'].flatMap(
    (field) =>
      [
        ['/v1/models/tiny:predict', { prompt: 'x' }, field, elsewhere],
        ['/generate', { prompt: 'x' }, field, elsewhere],
      ] satisfies [string, object, string, string][],
  ),
])('%s %j: %s', async (path, body, field, instead) => {
  for (const stream of path.startsWith('/v1/models/') || path === '/generate' ? [false] : [false, true]) {
    const asked = field === 'prompt_logprobs' ? {} : { stream };
    const response = await server.post(path, { ...body, ...asked, [field]: -1 });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { param: field, message: expect.stringContaining(instead) } },
    ]);
  }
});
