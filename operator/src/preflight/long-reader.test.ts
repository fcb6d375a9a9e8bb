// The process that reads is real; programs in its place do what a hostile checkpoint might make it do.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { failureKinds } from '@llmservice/crds';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { anyEndpoint } from './address-guard.js';
import { guardedBy } from './cluster-guard.js';
import { LongReader } from './long-reader.js';

const service = wantedService();
const secrets = {
  open: () =>
    Promise.resolve({
      credentials: null,
      hubToken: null,
      dockerConfig: null,
      listToken: null,
      certificates: null,
    }),
};
const limits = { maxMs: 60_000, signal: new AbortController().signal };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'long-reader-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @param program run when the job comes */
function reader(name: string, program: string, options: object = {}): LongReader {
  const entry = join(folder, `${name}.mjs`);
  writeFileSync(entry, `process.once('message', (job) => { ${program} });`);
  return new LongReader(secrets, guardedBy(anyEndpoint), { entry, ...options });
}

test('an answer is the look’s, and the process has none of the operator’s variables', async () => {
  const program = `process.send({ state: 'resolved', checkpoint: { job, env: Object.keys(process.env) } });`;
  const { env, job } = (await reader('answers', program).judge(service, limits)) as unknown as {
    env: string[];
    job: object;
  };
  expect(env.filter((name) => !name.startsWith('NODE_CHANNEL'))).toEqual([]);
  expect(job).toEqual({
    service,
    endpoints: anyEndpoint,
    credentials: null,
    hubToken: null,
    listToken: null,
    dockerConfig: null,
    certificates: null,
    maxMs: 60_000,
  });
});

test.each([
  ['memory without end', 'const all = []; for (;;) all.push({ a: [] });'],
  ['a native abort', 'process.abort();'],
])('%s ends that process alone: the checkpoint is unreadable', async (name, program) => {
  const judged = reader(name.slice(0, 6), program, { maxHeapMiB: 48 }).judge(service, limits);
  await expect(judged).rejects.toMatchObject({
    failure: { reason: 'CheckpointUnreadable', message: expect.stringContaining(service.spec.model.uri) },
  });
  expect(failureKinds.CheckpointUnreadable.terminal).toBe(true);
});

test('one that never ends is ended', async () => {
  const judged = reader('spins', 'for (;;);', { graceMs: 100 }).judge(service, { ...limits, maxMs: 200 });
  await expect(judged).rejects.toMatchObject({ failure: { reason: 'CheckpointUnreadable' } });
});

test('others have their turns while one never ends', async () => {
  const begun = join(folder, 'begun');
  const program = `process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(begun)}, ''); for (;;);`;
  const unwanted = new AbortController();
  const { signal } = unwanted;
  const judged = reader('endless', program).judge(service, { maxMs: 60_000, signal });
  let ended = false;
  const end = judged.catch(() => (ended = true));
  while (!existsSync(begun)) await sleep(5);
  for (let turn = 0; turn < 3; turn += 1) await sleep(5);
  expect(ended).toBe(false);
  unwanted.abort();
  await end;
});

test('what nobody wants any more is ended', async () => {
  const unwanted = new AbortController();
  const judged = reader('waits', "process.on('disconnect', () => process.exit());").judge(service, {
    maxMs: 60_000,
    signal: unwanted.signal,
  });
  setTimeout(() => unwanted.abort(), 50);
  await expect(judged).rejects.toThrow('abort');
});

test('failures of the look keep their reason', async () => {
  const failure = { reason: 'CheckpointCorrupt', message: 'a: at byte 5', detail: { at: 5 } };
  const program = `process.send({ state: 'failed', failure: ${JSON.stringify(failure)} });`;
  await expect(reader('fails', program).judge(service, limits)).rejects.toMatchObject({ failure });
});
