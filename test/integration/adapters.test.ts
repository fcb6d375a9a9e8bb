// LoRA adapters of a whole replica with the demo model: those of its settings, and others that come and go while requests run.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { adapterListText } from '@llmservice/crds';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFiles } from '../builders/files.js';
import { freePort } from '../processes.js';
import { writeRandomAdapter } from './random-adapter.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { S3Server, s3Environment } from './s3-server.js';
import { endless, longContext } from './streams.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-adapters-'));
const at = (name: string): string => join(folder, name);
let replica: ReplicaProcess;
let s3: S3Server;
let adminUrl: string;

beforeAll(async () => {
  for (const [seed, name] of ['first', 'second', 'wide'].entries()) {
    await writeRandomAdapter(demoCheckpoint, at(name), { rank: name === 'wide' ? 17 : 8, seed });
  }
  mkdirSync(at('list'));
  s3 = await S3Server.start();
  s3.put('adapters', 'second', readFiles(at('second')));
  const sha256 = createHash('sha256').update('sk-admin').digest('hex');
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'admin', sha256 }] }));
  const port = await freePort();
  adminUrl = `http://127.0.0.1:${String(port)}`;
  const env = {
    LLMSERVICE_ADMIN_PORT: String(port),
    LLMSERVICE_ADMIN_KEYS_DIR: folder,
    LLMSERVICE_ADMIN_ALLOWED_URIS: folder,
    LLMSERVICE_ADAPTERS: `first=${at('first')}`,
    ...s3Environment,
    LLMSERVICE_WEIGHTS_DIR: at('weights'),
    LLMSERVICE_ADAPTERS_DIR: at('list'),
    LLMSERVICE_MAX_ADAPTERS: '2',
  };
  const { endpoint } = s3;
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, endpoint, engine: longContext, env });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  await s3.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function admin(action: 'load' | 'unload', body: object): Promise<Answer> {
  const headers = { authorization: 'Bearer sk-admin' };
  const url = `${adminUrl}/v1/${action}_lora_adapter`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** What a model says, or the status that refuses it. */
async function say(model: string): Promise<string | number> {
  const body = {
    model,
    prompt: 'The capital of France is a city that',
    max_tokens: 12,
    temperature: 0,
    ignore_eos: true,
  };
  const response = await replica.post('/v1/completions', body);
  if (!response.ok) return response.status;
  const { choices } = (await response.json()) as { choices: { text: string }[] };
  return choices[0]?.text ?? '';
}

const modelNames = async (): Promise<string[]> => {
  const response = await fetch(`${replica.url}/v1/models`);
  return ((await response.json()) as { models: string[] }).models;
};

test('adapters come and go while a stream runs, each says its own, and the engine’s next process has the same', async () => {
  const [base, ...others] = await modelNames();
  expect(others).toContain('first');
  const stream = await replica.post('/v1/completions', { ...endless, model: 'first' });
  const metrics = await (await fetch(`${replica.url}/metrics`)).text();
  expect(metrics).toMatch(
    /vllm:lora_requests_info\{max_lora="2",running_lora_adapters="first",waiting_lora_adapters=""\} \d+/,
  );
  const plain = await say(base!);
  const first = await say('first');
  expect(first).not.toEqual(plain);
  expect(await say('second')).toBe(404);

  expect(await admin('load', { lora_name: 'second', lora_path: at('second') })).toEqual({
    status: 200,
    body: { lora_name: 'second', lora_path: at('second') },
  });
  const second = await say('second');
  expect([plain, first]).not.toContain(second);
  expect([await say(base!), await say('first')]).toEqual([plain, first]);
  expect(await modelNames()).toEqual(expect.arrayContaining(['first', 'second']));

  for (const [body, message] of [
    [{ lora_name: 'third', lora_path: at('second') }, 'there is room for 2 adapters'],
    [{ lora_name: 'second', lora_path: at('second') }, 'is loaded already'],
    [{ lora_name: 'third' }, 'lora_path must be a text'],
  ] as const) {
    const { status, body: refusal } = await admin('load', body);
    expect([status, JSON.stringify(refusal)]).toEqual([400, expect.stringContaining(message)]);
  }
  expect((await admin('load', { lora_name: 'third', lora_path: '/etc' })).status).toBe(403);

  expect((await admin('unload', { lora_name: 'second' })).status).toBe(200);
  expect(await say('second')).toBe(404);
  expect((await admin('unload', { lora_name: 'second' })).status).toBe(404);
  for (const [lora_name, message] of [
    ['wide', 'adapter wide: the adapter has rank 17; there is room for ranks to 16'],
    ['absent', `adapter absent: ${at('absent')}: there is no such folder`],
  ] as const) {
    const { status, body: refusal } = await admin('load', { lora_name, lora_path: at(lora_name) });
    expect([status, JSON.stringify(refusal)]).toEqual([400, expect.stringContaining(message)]);
  }
  // Another under the same name and number: nothing of the one before it is reused.
  expect((await admin('load', { lora_name: 'second', lora_path: at('first') })).status).toBe(200);
  expect(await say('second')).toBe(first);

  await stream.body?.cancel();
  const pid = /"engine ready".*?"pid":(\d+)/.exec(replica.log)?.[1];
  process.kill(Number(pid), 'SIGKILL');
  await replica.eventually('the next engine process', async () => {
    const { state, engine } = await replica.health();
    return state === 'serving' && engine?.restarts === 1;
  });
  expect([await say('first'), await say('second')]).toEqual([first, first]);
});

test('the list of adapters is followed while a stream runs, and one that cannot be loaded keeps no other away', async () => {
  await admin('unload', { lora_name: 'second' });
  const stream = await replica.post('/v1/completions', { ...endless, model: 'first' });
  const list = (...adapters: { name: string; uri: string }[]): void =>
    writeFileSync(join(at('list'), 'adapters.json'), adapterListText(adapters));
  const report = async () => (await replica.health()).adapters;

  list({ name: 'wide', uri: at('wide') }, { name: 'second', uri: 's3://adapters/second/' });
  await replica.eventually('the second', async () => (await say('second')) !== 404);
  await replica.eventually('a report', async () => (await report())?.failed.length === 1);
  expect(await report()).toMatchObject({ loaded: [1], failed: [0] });
  expect(replica.log).toContain('adapter wide: the adapter has rank 17');
  const metrics = await (await fetch(`${replica.url}/metrics`)).text();
  expect(metrics).toContain('llmservice_listed_adapters{state="loaded"} 1');
  expect(metrics).toContain('llmservice_listed_adapters{state="failed"} 1');

  list();
  await replica.eventually('none of the list', async () => (await say('second')) === 404);
  const pulled = (): string[] =>
    readdirSync(at('weights')).flatMap((folder) => readdirSync(join(at('weights'), folder)));
  await replica.eventually('no files of it', () => Promise.resolve(pulled().length === 0));
  expect(await say('first')).not.toBe(404);
  const reader = stream.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
});
