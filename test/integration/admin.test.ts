// The administration of a whole replica with the demo model: its own port and keys, and what each action does to
// requests that run.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '../processes.js';
import { demoCheckpoint, ReplicaProcess, type ReplicaOptions } from './replica-process.js';
import { s3Environment } from './s3-server.js';
import { endless, longContext } from './streams.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-admin-'));
/** Below it administrators may load what they like. */
const allowed = join(folder, 'models');
let replica: ReplicaProcess;
let adminUrl: string;

beforeAll(async () => {
  const sha256 = createHash('sha256').update('sk-admin').digest('hex');
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'admin', sha256 }] }));
  replica = await start(demoCheckpoint);
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

/** One with an administration. Without another endpoint nobody listens at that of its S3. */
async function start(
  uri: string,
  more: Partial<ReplicaOptions> = {},
  variables: NodeJS.ProcessEnv = {},
): Promise<ReplicaProcess> {
  const port = await freePort();
  adminUrl = `http://127.0.0.1:${String(port)}`;
  const endpoint = `http://127.0.0.1:${String(await freePort())}`;
  const administration = {
    LLMSERVICE_ADMIN_PORT: String(port),
    LLMSERVICE_ADMIN_KEYS_DIR: folder,
    LLMSERVICE_ADMIN_ALLOWED_URIS: `s3://nope/,${allowed}`,
  };
  const env = { ...administration, ...s3Environment, ...variables };
  return ReplicaProcess.start({ uri, endpoint, engine: longContext, env, ...more });
}

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

interface Running {
  readonly id: string;
  readonly route: string;
}

const running = async (): Promise<Running[]> =>
  (await admin('GET', '/admin/requests')).body['requests'] as Running[];

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
  const requests = await running();
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
  const missing = await admin('POST', '/admin/model/load', { uri: join(allowed, 'nowhere') });
  expect(missing).toMatchObject({ status: 503, body: { error: { code: 'ModelNotFound' } } });
  expect(await admin('POST', '/admin/model/load')).toMatchObject({ status: 200, body: { state: 'serving' } });
  expect((await replica.post('/v1/completions', { prompt: 'x', max_tokens: 1 })).status).toBe(200);
});

test('an unload ends what runs with what to do, and as no fault of the engine', async () => {
  const streamed = await stream();
  const whole = replica.post('/v1/completions', { ...endless, stream: false });
  await eventually('both to run', async () => (await running()).length === 2);
  expect(await admin('POST', '/admin/model/unload')).toMatchObject({ body: { state: 'unloaded' } });
  const text = await streamed.text();
  expect(text).toContain('"code":"model_not_ready"');
  expect(text).not.toContain('[DONE]');
  const answer = await whole;
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    error: {
      code: 'model_not_ready',
      message: 'an administrator unloaded the model: send the request again once one is loaded, or elsewhere',
    },
  });
  expect(await (await fetch(`${replica.url}/metrics`)).text()).not.toContain('code="EngineFault"');
  expect(await admin('POST', '/admin/model/load')).toMatchObject({ status: 200 });
});

test('a load that an unload ends says so', async () => {
  await admin('POST', '/admin/model/unload');
  const load = admin('POST', '/admin/model/load', { uri: 's3://nope/x' });
  await replica.eventually('the load to wait for S3', async () => (await replica.health()).failure !== null);
  expect(await admin('POST', '/admin/model/unload')).toMatchObject({ body: { state: 'unloaded' } });
  expect(await load).toMatchObject({
    status: 409,
    body: { error: { code: 'request_cancelled', message: expect.stringContaining('an unload') as unknown } },
  });
  expect(await admin('POST', '/admin/model/load')).toMatchObject({ status: 200 });
});

test('drained, it ends what runs and then itself', async () => {
  const response = await replica.post('/v1/completions', { prompt: 'x', max_tokens: 64, ignore_eos: true });
  expect(await admin('POST', '/admin/drain')).toMatchObject({ status: 202 });
  expect(((await response.json()) as { readonly choices: object[] }).choices).toHaveLength(1);
  expect(await replica.exited()).toBe(0);
});

test('a load that a drain ends says so', async () => {
  await replica.stop();
  replica = await start('s3://nope/x');
  await replica.eventually('the load to wait for S3', async () => (await replica.health()).failure !== null);
  await admin('POST', '/admin/model/unload');
  const load = admin('POST', '/admin/model/load');
  await replica.eventually('the next to wait', async () => (await replica.health()).failure !== null);
  expect(await admin('POST', '/admin/drain')).toMatchObject({ status: 202 });
  expect(await load).toMatchObject({ status: 503, body: { error: { code: 'draining' } } });
  expect(await replica.exited()).toBe(0);
});

test('nobody loads another model before the first load, and before the budgets of the day are known', async () => {
  await replica.stop();
  const accounting = join(folder, 'accounting');
  mkdirSync(accounting);
  const time = new Date().toISOString();
  const spent = { time, id: 'x', key: 'admin', promptTokens: 1, completionTokens: 1, finish: ['stop'] };
  // More than is read in a moment.
  writeFileSync(join(accounting, 'a.jsonl'), `${JSON.stringify(spent)}\n`.repeat(300_000));
  const env = { KEYS_DIR: folder, ACCOUNTING_DIR: accounting };
  replica = await start(demoCheckpoint, {}, env);
  const load = await replica.eventually('an answer', () =>
    admin('POST', '/admin/model/load').catch(() => null),
  );
  expect(load).toMatchObject({ status: 409, body: { error: { code: 'model_already_loaded' } } });
  await replica.ready();
});

test('a load that stalls says why, although the replica ends with it', async () => {
  await replica.stop();
  const silent = createServer().listen(0, '127.0.0.1');
  try {
    await once(silent, 'listening');
    const endpoint = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
    replica = await start(demoCheckpoint, { endpoint, noProgressTimeoutSeconds: 10 });
    await replica.ready();
    await admin('POST', '/admin/model/unload');
    const { body } = await admin('POST', '/admin/model/load', { uri: 's3://nope/x' });
    expect(body).toMatchObject({ error: { code: 'LoadStalled' } });
    await replica.exited();
    expect(replica.terminationMessage?.reason).toBe('LoadStalled');
  } finally {
    silent.close();
  }
});
