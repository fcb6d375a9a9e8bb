// An engine process that is killed, stalls, is lost again and again, or never comes up: what its client does, and
// what those who asked get.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { Failure } from '@llmservice/crds';
import { createLogger, transports } from 'winston';
import { EngineClient, type EngineLimits } from '../../runtime/src/engine/engine-client.js';
import type { EngineState } from '../../runtime/src/engine/engine-state.js';
import type { EngineSettings } from '../../runtime/src/engine/protocol.js';
import { eventually } from '../processes.js';
import { collect, generate, request } from './engine-requests.js';
import { engineSettings } from './engine-settings.js';
import { demoCheckpoint } from './replica-process.js';

jest.setTimeout(120_000);

const logger = createLogger({ silent: true });
const settings = engineSettings(demoCheckpoint, { memoryBytesPerDevice: 1024 ** 3 });

describe('EngineClient whose engine is lost', () => {
  let client: EngineClient | null = null;
  const limits = {
    heartbeat: 30_000,
    firstHeartbeat: 30_000,
    step: 600_000,
    shutdown: 5_000,
    backOff: 2_000,
    healthy: 60_000,
  };
  afterEach(() => client?.stop());

  async function start(changes: Partial<EngineLimits>, log = logger): Promise<EngineClient> {
    client = new EngineClient(settings, log, { ...limits, ...changes });
    await client.start();
    return client;
  }

  test('one that is killed ends its requests with EngineFault; the next is answered by a new one', async () => {
    const lost = await start({});
    const { signal } = new AbortController();
    const outputs = lost.submit(request([1, 2, 3], { maxTokens: 500 }), { signal });
    expect((await outputs.next()).done).toBe(false);
    process.kill(lost.health().pid!, 'SIGKILL');
    await expect(collect(outputs)).rejects.toMatchObject({ reason: 'EngineFault' });
    expect(lost.health().state.kind).toBe('restarting');
    const { tokens } = await generate(lost, request([1, 2, 3]));
    expect(tokens).toHaveLength(24);
    expect(lost.health()).toMatchObject({ state: { kind: 'ready' }, restarts: 1 });
  });

  test('one that stalls is killed, its request fails with the reason, and the next one answered', async () => {
    const sick = await start({ heartbeat: 10_000 });
    const { signal } = new AbortController();
    const outputs = sick.submit(request([1, 2, 3], { maxTokens: 500 }), { signal });
    expect((await outputs.next()).done).toBe(false);
    const pid = sick.health().pid!;
    process.kill(pid, 'SIGSTOP');
    await expect(collect(outputs)).rejects.toMatchObject({
      reason: 'EngineFault',
      message: expect.stringContaining('no sign of life'),
    });
    expect(() => process.kill(pid, 0)).toThrow();
    await eventually('a new engine', () => sick.health().state.kind === 'ready');
    expect((await generate(sick, request([1], { maxTokens: 1 }))).tokens).toHaveLength(1);
  });

  test('one lost again and again is started again at once, then after longer and longer waits', async () => {
    const delays: number[] = [];
    const stream = new Writable({
      objectMode: true,
      write: (entry: { delayMs?: number }, _, done) => {
        if (entry.delayMs !== undefined) delays.push(entry.delayMs);
        done();
      },
    });
    const unlucky = await start({}, createLogger({ transports: [new transports.Stream({ stream })] }));
    for (let losses = 1; losses <= 4; losses++) {
      process.kill(unlucky.health().pid!, 'SIGKILL');
      await eventually('a new engine', () => {
        const { restarts, state } = unlucky.health();
        return restarts === losses && state.kind === 'ready';
      });
    }
    expect(delays).toEqual([0, 1000, 2000, 2000]);
  });
});

describe('EngineClient that cannot load', () => {
  async function failureOf(changes: Partial<EngineSettings>): Promise<Failure> {
    const client = new EngineClient({ ...settings, memoryUtilizationPercent: 100, ...changes }, logger);
    await client.start();
    const { state, pid } = client.health();
    await client.stop();
    expect({ kind: state.kind, pid }).toEqual({ kind: 'failed', pid: null });
    return (state as Extract<EngineState, { kind: 'failed' }>).failure;
  }

  test('says how much memory is needed, and with a little more the largest context that fits', async () => {
    const changes = { maxNumSeqs: 1, maxModelLen: 4096 };
    const tooLarge = await failureOf({ ...changes, memoryBytesPerDevice: 2 ** 20 });
    expect(tooLarge.reason).toBe('ModelTooLarge');
    const memoryBytesPerDevice = Number(tooLarge.detail!['needed']) + 2 ** 20;
    const tooLong = await failureOf({ ...changes, memoryBytesPerDevice });
    expect(tooLong.reason).toBe('KvCacheTooSmall');
    expect(tooLong.detail!['fits']).toBeGreaterThanOrEqual(512);
    expect(tooLong.detail!['fits']).toBeLessThan(4096);
  });

  test('names the file that a folder lacks', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'llmservice-empty-'));
    try {
      const failure = await failureOf({ modelDir: empty });
      expect(failure).toMatchObject({ reason: 'CheckpointIncomplete' });
      expect(failure.message).toContain('config.json');
    } finally {
      rmSync(empty, { recursive: true });
    }
  });
});
