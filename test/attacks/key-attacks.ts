// What a client does to get at more than its own: priority over others, the administration, and what others have sent.

import { post, type Attack } from './attack.js';

async function expectStatus(response: Response, status: number): Promise<void> {
  const text = await response.text();
  if (response.status !== status)
    throw new Error(`${String(response.status)} instead of ${String(status)}: ${text.slice(0, 200)}`);
}

export const keyAttacks: readonly Attack[] = [
  {
    name: 'asks for a priority above its bound',
    run: async (target) => {
      const urgent = { max_tokens: 1, priority: -8 };
      await expectStatus(await post(target, '/v1/completions', { ...urgent, prompt: 'x' }), 400);
      const messages = [{ role: 'user', content: 'x' }];
      await expectStatus(await post(target, '/v1/chat/completions', { ...urgent, messages }), 400);
      await expectStatus(await post(target, '/v1/embeddings', { input: 'x', priority: -8 }), 400);
    },
  },
  {
    name: 'looks for the administration on the port of clients',
    run: async (target) => {
      for (const path of ['/admin/drain', '/admin/model/unload', '/admin/model/load', '/admin/cache/flush'])
        await expectStatus(await post(target, path, { uri: '/etc' }), 404);
    },
  },
];
