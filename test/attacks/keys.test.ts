// One API key against another at a whole server: whether it learns what the other has sent, by usage on any route or by
// the time to the first token, and whether it gets before the other.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { keyAttacks } from './key-attacks.js';
import { Witness } from './witness.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-key-attacks-'));
let replica: ReplicaProcess;
let port: number;
const bearer = (key: string) => ({ authorization: `Bearer sk-${key}` });

beforeAll(async () => {
  const entry = (id: string) => ({ id, sha256: createHash('sha256').update(`sk-${id}`).digest('hex') });
  const keys = ['victim', 'spy', 'honest'].map(entry);
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys }));
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, env: { KEYS_DIR: folder } });
  port = Number(new URL(replica.url).port);
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

type Answer = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Where each protocol reports what the cache had. */
const routes: Readonly<
  Record<string, { body: (text: string) => object; cached: (answer: Answer) => unknown }>
> = {
  '/v1/completions': {
    body: (prompt) => ({ prompt, max_tokens: 1 }),
    cached: ({ usage }) => (usage?.['prompt_tokens_details'] as { cached_tokens: number }).cached_tokens,
  },
  '/v1/chat/completions': {
    body: (content) => ({ messages: [{ role: 'user', content }], max_tokens: 1 }),
    cached: ({ usage }) => (usage?.['prompt_tokens_details'] as { cached_tokens: number }).cached_tokens,
  },
  '/v1/responses': {
    body: (input) => ({ input, max_output_tokens: 16 }),
    cached: ({ usage }) => (usage?.['input_tokens_details'] as { cached_tokens: number }).cached_tokens,
  },
  '/v1/messages': {
    body: (content) => ({ model: 'demo', messages: [{ role: 'user', content }], max_tokens: 1 }),
    cached: ({ usage }) => usage?.['cache_read_input_tokens'],
  },
};

async function cached(key: string, path: string, text: string): Promise<unknown> {
  const { body, cached: of } = routes[path]!;
  const init = { method: 'POST', headers: bearer(key), body: JSON.stringify(body(text)) };
  const response = await fetch(replica.url + path, init);
  expect(response.status).toBe(200);
  return of((await response.json()) as Answer);
}

test.each(Object.keys(routes))('%s reveals to no key what another has sent', async (path) => {
  const witness = await Witness.begin({ port, headers: bearer('honest') });
  const secret = `The code of the safe at ${path} is one two three. `.repeat(25);
  for (let i = 0; i < 3; i++) await cached('victim', path, secret);
  expect(await cached('victim', path, secret)).toBeGreaterThan(100);
  expect(await cached('spy', path, secret)).toBe(0);
  await witness.end();
  expect(witness.faults).toEqual([]);
});

test('the time to the first token reveals to no key what another has sent', async () => {
  const text = (i: number): string => `Case ${String(i)}: ${'the suspect went home again '.repeat(90)}`;
  const path = '/v1/completions';
  const seconds = async (key: string, prompt: string): Promise<number> => {
    const from = performance.now();
    const hits = await cached(key, path, prompt);
    if (key === 'spy') expect(hits).toBe(0);
    return performance.now() - from;
  };
  const [sent, unsent]: [number[], number[]] = [[], []];
  for (let i = 0; i < 10; i++) {
    for (let n = 0; n < 3; n++) await seconds('victim', text(2 * i));
    sent.push(await seconds('spy', text(2 * i)));
    unsent.push(await seconds('spy', text(2 * i + 1)));
  }
  const median = (of: number[]): number => [...of].sort((a, b) => a - b)[5] ?? 0;
  // A hit takes a small part of the time that a miss takes; what was sent is a miss like any other.
  expect(median(sent)).toBeGreaterThan(median(unsent) / 2);
});

test.each(keyAttacks)('$name', async ({ run }) => {
  const witness = await Witness.begin({ port, headers: bearer('honest') });
  const over = new AbortController().signal;
  await run({ port, headers: bearer('spy'), random: randomFrom(1), over });
  await witness.end();
  expect(witness.faults).toEqual([]);
});
