// What the processes that run a client's or a checkpoint's work hold of the server's environment, as the kernel reports it:
// what devices need and the manifest sets for them, and neither credentials nor the places of keys.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asInContainer, demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { run } from '../processes.js';
import { enginePids, environment, processTree } from '../process-tree.js';

jest.setTimeout(180_000);

const folder = mkdtempSync(join(tmpdir(), 'llmservice-environment-'));
const secret = 'hunter2';
const ofDevices = {
  NCCL_SOCKET_IFNAME: 'lo',
  CUDA_VISIBLE_DEVICES: '',
  HSA_NO_SCRATCH_RECLAIM: '1',
  OMP_NUM_THREADS: '1',
};
let replica: ReplicaProcess;

beforeAll(async () => {
  const sha256 = createHash('sha256').update('sk-a').digest('hex');
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify({ keys: [{ id: 'a', sha256 }] }));
  const env = {
    ...ofDevices,
    AWS_ACCESS_KEY_ID: secret,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_SESSION_TOKEN: secret,
    KEYS_DIR: folder,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret}`,
    DATABASE_URL: `postgres://user:${secret}@db`,
    NVIDIA_API_KEY: secret,
  };
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, tensor: 2, env });
  await replica.ready();
  const headers = { authorization: 'Bearer sk-a' };
  // A schema and a chat: whatever runs in processes of its own has been started then.
  const body = JSON.stringify({
    messages: [{ role: 'user', content: 'x' }],
    max_tokens: 4,
    response_format: { type: 'json_object' },
  });
  const answer = await fetch(`${replica.url}/v1/chat/completions`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

test('engine, rank and all other processes of a server have no credential and no key', () => {
  const server = replica.child.pid ?? 0;
  expect(Object.values(environment(server))).toContain(secret);
  const pids = processTree(server).filter((pid) => pid !== server);
  // The engine, the second rank, and one at least that reads texts.
  expect(pids.length).toBeGreaterThanOrEqual(3);
  for (const pid of pids) {
    const found = environment(pid);
    expect(JSON.stringify(found)).not.toContain(secret);
    expect(
      Object.keys(found).filter((name) => /^AWS_|KEYS_DIR|^OTEL_|^LLMSERVICE_ENGINE/.test(name)),
    ).toEqual([]);
  }
});

test('the engine and its ranks have what the manifest sets for devices', () => {
  const pids = enginePids(replica.child.pid ?? 0);
  expect(pids).toHaveLength(2);
  for (const pid of pids) expect(environment(pid)).toMatchObject(ofDevices);
});

describe('a process of the same user', () => {
  /** What a process that a child of the server might become gets of another's file in /proc. */
  const read = (pid: number, file: string) => {
    const [program, ...args] = asInContainer(['head', '-c', '4096', `/proc/${String(pid)}/${file}`]);
    return run(program, args);
  };

  test.each(['environ', 'maps', 'fd/0', 'cwd/package.json'])(
    'cannot read %s of the server, as it can of the engine',
    async (file) => {
      const server = replica.child.pid ?? 0;
      const [engine = 0] = enginePids(server);
      expect(await read(engine, file)).toMatchObject({ code: 0 });
      const { code, stdout, stderr } = await read(server, file);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('Permission denied');
    },
  );
});
