// Checkpoints whose headers no server should survive, loaded into one by its administration: each load ends with its own
// reason, the process stays, answers its liveness probe all the time, and serves its model afterwards as before.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { s3Environment, S3Server } from '../integration/s3-server.js';
import { TurnWatch } from '../load/turn-watch.js';
import { freePort } from '../processes.js';
import { hostileCheckpoints } from './hostile-checkpoints.js';

jest.setTimeout(300_000);

/** Of a processor: several times what a slice of a header or the longest configuration takes. A header at once takes seconds. */
const maxTurnMs = 500;
/** By the clock, which the machine's other work lengthens: the period of the pods' own probes, of which six in a row must fail. */
const maxLivenessMs = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'llmservice-hostile-load-'));
const turns = new TurnWatch(join(folder, 'turns'));
let s3: S3Server;
let replica: ReplicaProcess;
let adminUrl: string;

beforeAll(async () => {
  s3 = await S3Server.start();
  const demo = readdirSync(demoCheckpoint).map((name) => [name, readFileSync(join(demoCheckpoint, name))]);
  s3.put('models', 'demo', Object.fromEntries(demo) as Record<string, Uint8Array>);
  for (const [name, files] of Object.entries(hostileCheckpoints())) s3.put('models', name, files);
  const sha256 = createHash('sha256').update('sk-admin').digest('hex');
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'admin', sha256 }] }));
  const port = await freePort();
  adminUrl = `http://127.0.0.1:${port}`;
  const env = {
    LLMSERVICE_ADMIN_PORT: String(port),
    LLMSERVICE_ADMIN_KEYS_DIR: folder,
    LLMSERVICE_ADMIN_ALLOWED_URIS: 's3://models/',
    ...s3Environment,
    ...turns.env,
  };
  replica = await ReplicaProcess.start({ uri: 's3://models/demo/', endpoint: s3.endpoint, env });
  await replica.ready();
}, 180_000);

afterAll(async () => {
  await replica.stop();
  await s3.stop();
  rmSync(folder, { recursive: true });
});

async function admin(path: string, body: object = {}): Promise<{ status: number; text: string }> {
  const headers = { authorization: 'Bearer sk-admin' };
  const response = await fetch(adminUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

const complete = async (): Promise<string> => {
  const response = await replica.post('/v1/completions', {
    prompt: 'The capital of',
    max_tokens: 8,
    temperature: 0,
  });
  return ((await response.json()) as { choices: { text: string }[] }).choices[0]?.text ?? '';
};

/** The kubelet's question, again and again while something else runs. */
class Liveness {
  slowestMs = 0;

  async beside<T>(url: string, work: () => Promise<T>): Promise<T> {
    const done = work();
    const ended = new AbortController();
    const probing = this.probe(url, ended.signal);
    try {
      return await done;
    } finally {
      ended.abort();
      await probing;
    }
  }

  private async probe(url: string, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const startedAt = performance.now();
      expect((await fetch(`${url}/healthz/live`)).status).toBe(200);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      await sleep(20);
    }
  }
}

test('each hostile load ends with its reason, and the server continues', async () => {
  const before = await complete();
  expect((await admin('/admin/model/unload')).status).toBe(200);
  const turnsBefore = turns.count;
  let slowestMs = 0;
  for (const name of Object.keys(hostileCheckpoints())) {
    const liveness = new Liveness();
    const { text } = await liveness.beside(replica.url, () =>
      admin('/admin/model/load', { uri: `s3://models/${name}/` }),
    );
    process.stderr.write(
      `${name}: liveness within ${Math.round(liveness.slowestMs)} ms: ${text.slice(0, 140)}\n`,
    );
    expect(text).toMatch(/Checkpoint(Corrupt|Incomplete)/);
    slowestMs = Math.max(slowestMs, liveness.slowestMs);
  }
  // What the server's loop computed at a stretch is the same however busy the machine is.
  expect(turns.longestMs(turnsBefore)).toBeLessThan(maxTurnMs);
  expect(slowestMs).toBeLessThan(maxLivenessMs);
  expect(replica.child.exitCode).toBeNull();
  expect((await admin('/admin/model/load')).status).toBe(200);
  expect(await complete()).toBe(before);
});
