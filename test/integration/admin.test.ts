// The administration of a whole replica with the demo model: its own port and keys, and what each action does to
// requests that run.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { endless, longContext } from './streams.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-admin-'));
let replica: ReplicaProcess;
let adminUrl: string;

beforeAll(async () => {
  const sha256 = createHash('sha256').update('sk-admin').digest('hex');
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'admin', sha256 }] }));
  const port = await freePort();
  adminUrl = `http://127.0.0.1:${String(port)}`;
  const env = { LLMSERVICE_ADMIN_PORT: String(port), LLMSERVICE_ADMIN_KEYS_DIR: folder };
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, engine: longContext, env });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function admin(method: string, path: string, body?: object, key = 'sk-admin'): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` };
  const sent = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(adminUrl + path, { method, headers, body: sent });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const stream = (): Promise<Response> => replica.post('/v1/completions', endless);

test('only administrators are let in, and only on its own port', async () => {
  expect(await admin('GET', '/admin/requests', undefined, 'sk-other')).toMatchObject({
    status: 401,
    body: { error: { code: 'invalid_api_key' } },
  });
  expect((await replica.post('/admin/drain', {})).status).toBe(404);
  expect((await admin('POST', '/admin/other')).body).toMatchObject({
    error: { code: 'route_not_found', message: expect.stringContaining('POST /admin/drain') as unknown },
  });
});

test('a running request is listed, and ended by its id with a reason', async () => {
  const response = await stream();
  const { body } = await admin('GET', '/admin/requests');
  const requests = body['requests'] as { readonly id: string; readonly route: string }[];
  expect(requests).toEqual([
    expect.objectContaining({ route: '/v1/completions', generations: 1, key: null }),
  ]);
  const id = requests[0]?.id ?? '';
  expect((await admin('POST', '/admin/cancel', { id: 'cmpl-other' })).body).toEqual({ cancelled: [] });
  expect((await admin('POST', '/admin/cancel', { id })).body).toEqual({ cancelled: [id] });
  const text = await response.text();
  expect(text).toContain('"code":"request_cancelled"');
  expect(text).not.toContain('[DONE]');
  expect((await admin('GET', '/admin/requests')).body).toEqual({ requests: [] });
  expect(await admin('POST', '/admin/cancel', {})).toMatchObject({ status: 400 });
});

test('a flushed cache gives nothing, and is filled again', async () => {
  const prompt = 'the quick brown fox '.repeat(60);
  const cached = async (): Promise<number> => {
    const response = await replica.post('/v1/completions', { prompt, max_tokens: 1 });
    const { usage } = (await response.json()) as {
      readonly usage: { readonly prompt_tokens_details?: { readonly cached_tokens: number } };
    };
    return usage.prompt_tokens_details?.cached_tokens ?? 0;
  };
  await cached();
  await cached();
  expect(await cached()).toBeGreaterThan(0);
  const { body } = await admin('POST', '/admin/cache/flush');
  expect(body['blocks']).toBeGreaterThan(0);
  expect(await cached()).toBe(0);
  await cached();
  expect(await cached()).toBeGreaterThan(0);
});

test('a model is unloaded and loaded again', async () => {
  expect(await admin('POST', '/admin/model/load')).toMatchObject({
    status: 409,
    body: { error: { code: 'model_already_loaded' } },
  });
  expect(await admin('POST', '/admin/model/unload')).toMatchObject({ body: { state: 'unloaded' } });
  expect((await replica.post('/v1/completions', { prompt: 'x' })).status).toBe(503);
  const refused = await admin('POST', '/admin/model/load', { uri: '/nowhere' });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(await admin('POST', '/admin/model/load')).toMatchObject({ status: 200, body: { state: 'serving' } });
  expect((await replica.post('/v1/completions', { prompt: 'x', max_tokens: 1 })).status).toBe(200);
});

test('drained, it ends what runs and then itself', async () => {
  const response = await replica.post('/v1/completions', { prompt: 'x', max_tokens: 64, ignore_eos: true });
  expect(await admin('POST', '/admin/drain')).toMatchObject({ status: 202 });
  expect(((await response.json()) as { readonly choices: object[] }).choices).toHaveLength(1);
  expect(await replica.exited()).toBe(0);
});
