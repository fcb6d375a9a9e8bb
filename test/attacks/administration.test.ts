// What an administrator's key opens of the files and buckets that a server reaches: the checkpoints that the settings
// allow, and of no other file a single word, in an answer, in the log or in what the process leaves when it ends.

import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { freePort } from '../processes.js';
import { Witness } from './witness.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-administration-'));
const models = join(folder, 'models');
const keys = join(folder, 'keys');
const secret = 'hunter2';
/** Texts that parsers complain of in different words, each with the secret at once. */
const secrets: Readonly<Record<string, string>> = {
  'a line of a credentials file': `${secret} = aws_secret_access_key\n`,
  'a text in JSON': JSON.stringify(secret),
  'a broken object': `{"key": ${secret}}`,
  'a list': `["${secret}"]`,
};

/** A checkpoint whose file of that name is `content`, or a link to it. */
function checkpoint(name: string, file: string, content: string, linked: boolean): string {
  const dir = join(models, name);
  cpSync(demoCheckpoint, dir, { recursive: true });
  rmSync(join(dir, file), { force: true });
  const place = linked ? join(folder, `${name}.secret`) : join(dir, file);
  writeFileSync(place, content);
  if (linked) symlinkSync(place, join(dir, file));
  return dir;
}

let replica: ReplicaProcess;
let adminUrl: string;

beforeAll(async () => {
  mkdirSync(models);
  mkdirSync(keys);
  const sha256 = createHash('sha256').update('sk-admin').digest('hex');
  writeFileSync(join(keys, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'admin', sha256 }] }));
  const port = await freePort();
  adminUrl = `http://127.0.0.1:${String(port)}`;
  replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    env: {
      LLMSERVICE_ADMIN_PORT: String(port),
      LLMSERVICE_ADMIN_KEYS_DIR: keys,
      LLMSERVICE_ADMIN_ALLOWED_URIS: models,
    },
  });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => expect(replica.log).not.toContain(secret));

async function admin(path: string, body: object = {}): Promise<{ status: number; text: string }> {
  const headers = { authorization: 'Bearer sk-admin' };
  const response = await fetch(adminUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

test.each([
  ['another folder', '/etc'],
  ['a folder beside', `${models}-too`],
  ['a way out', `${models}/../keys`],
  ['a way out by a link', join(models, 'out')],
  ['mounted keys', keys],
  ['a file URI', 'file:///proc/self'],
  ['another bucket', 's3://backups/'],
  ['the weights folder’s parent', '/'],
])('%s is no checkpoint to load, and the refusal names those that are', async (_, uri) => {
  symlinkSync(keys, join(models, 'out'));
  const witness = await Witness.begin({ port: Number(new URL(replica.url).port) });
  // Even where a model is loaded: the URI is not read then.
  expect((await admin('/admin/model/load', { uri })).status).toBe(409);
  await witness.end();
  expect(witness.faults).toEqual([]);
  await admin('/admin/model/unload');
  const { status, text } = await admin('/admin/model/load', { uri });
  expect([status, JSON.parse(text)]).toMatchObject([
    403,
    { error: { code: 'model_not_allowed', param: 'uri' } },
  ]);
  expect(text).toContain(demoCheckpoint);
  expect(text).toContain(models);
  expect((await admin('/admin/model/load')).status).toBe(200);
  rmSync(join(models, 'out'));
});

const files = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'generation_config.json'];
const cases = files.flatMap((file) => Object.keys(secrets).map((kind) => [file, kind] as const));

test.each(cases)('%s that is %s is not quoted', async (file, kind) => {
  await admin('/admin/model/unload');
  const uri = checkpoint(`${file}-${kind.replaceAll(' ', '-')}`, file, secrets[kind] ?? '', false);
  const { status, text } = await admin('/admin/model/load', { uri });
  expect(status).toBe(503);
  expect(text).not.toContain(secret);
  expect(JSON.stringify(await replica.health())).not.toContain(secret);
});

test('a text that tokenizer.json has where another value belongs is not quoted', async () => {
  await admin('/admin/model/unload');
  const uri = checkpoint(
    'misplaced',
    'tokenizer.json',
    JSON.stringify({ version: '1.0', model: secret }),
    false,
  );
  const { status, text } = await admin('/admin/model/load', { uri });
  expect([status, JSON.parse(text)]).toMatchObject([503, { error: { code: 'TokenizerInvalid' } }]);
  expect(text).not.toContain(secret);
});

test.each([...files, 'chat_template.jinja'])(
  '%s that is a link out of its folder is not read',
  async (file) => {
    await admin('/admin/model/unload');
    const uri = checkpoint(`linked-${file}`, file, `${secret}{{ messages }}`, true);
    const { status, text } = await admin('/admin/model/load', { uri });
    expect([status, JSON.parse(text)]).toMatchObject([503, { error: { code: 'CheckpointIncomplete' } }]);
    expect(text).toContain(`${file} is a link`);
    expect(text).not.toContain(secret);
  },
);

test.each([false, true])(
  'at its start a server quotes no config.json either (a link: %p)',
  async (linked) => {
    const uri = checkpoint(
      `start-${String(linked)}`,
      'config.json',
      secrets['a broken object'] ?? '',
      linked,
    );
    const other = await ReplicaProcess.start({ uri });
    try {
      expect(await other.exited()).toBe(1);
      expect(other.terminationMessage?.reason).toBe(linked ? 'CheckpointIncomplete' : 'CheckpointCorrupt');
      expect(JSON.stringify(other.terminationMessage)).not.toContain(secret);
      expect(other.log).not.toContain(secret);
    } finally {
      await other.stop();
    }
  },
);
