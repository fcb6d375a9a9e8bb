// An engine that breaks in the midst of a step, never ends one, or answers everything with nonsense: refused with the
// reason, rebuilt, and given up when that does not help. Seen at the engine's client, and at the server's routes.

import * as childProcess from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLogger } from 'winston';
import type { EngineClient as Client, EngineLimits } from '../../runtime/src/engine/engine-client.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { modelsDir } from '../golden/golden-values.js';
import { isRunning, processTree, rankPids } from '../process-tree.js';
import { eventually } from '../processes.js';
import { engineSettings } from './engine-settings.js';
import { faultyAddonVariable } from './faulty-addon-variable.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'llmservice-faults-'));
const order = join(folder, 'order');
/** While it is there, a rebuilt engine waits before its load. */
const hold = `${order}.hold`;
const sharedNames = readdirSync('/dev/shm');
const faulty = faultyAddonVariable(folder, {
  FAULTY_ADDON_REAL: path('../../native/build/Release/llmservice_native.node'),
  FAULTY_ADDON_ORDER: order,
});
const orderFault = (fault: 'device' | 'endless' | 'unsound' | 'rank'): void => writeFileSync(order, fault);

/** The client forks its engine with the environment of this process, which a test cannot change. */
jest.unstable_mockModule('node:child_process', () => ({
  ...childProcess,
  fork: (entry: string, args: string[], options: childProcess.ForkOptions) =>
    childProcess.fork(entry, args, { ...options, env: { ...process.env, ...faulty } }),
}));
const { EngineClient } = await import('../../runtime/src/engine/engine-client.js');

afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => [order, hold].forEach((file) => rmSync(file, { force: true })));

describe('EngineClient', () => {
  const settings = engineSettings(`${modelsDir}qwen3_5_text-fp8-ranks`, { maxNumSeqs: 4 });
  const limits: EngineLimits = {
    heartbeat: 10_000,
    firstHeartbeat: 30_000,
    step: 600_000,
    shutdown: 5_000,
    backOff: 2_000,
    healthy: 60_000,
  };
  let client: Client;
  afterEach(async () => {
    await client.stop();
    expect(readdirSync('/dev/shm')).toEqual(sharedNames);
  });

  async function start(tensor: number, step = limits.step): Promise<void> {
    client = new EngineClient({ ...settings, tensor }, createLogger({ silent: true }), { ...limits, step });
    await client.start();
    expect(client.health().state.kind).toBe('ready');
  }

  let requests = 0;
  /** How many tokens it got; rejects with what it got instead. */
  async function ask(maxTokens = 3): Promise<number> {
    const { signal } = new AbortController();
    let tokens = 0;
    for await (const output of client.submit(
      generateRequest(`r${String(requests++)}`, [1, 2, 3], { maxTokens }),
      { signal },
    ))
      tokens += output.tokens.length;
    return tokens;
  }

  test.each([
    ['device', 1, 'fell off the bus in the midst of a step'],
    ['device', 2, 'fell off the bus in the midst of a step'],
    ['rank', 2, 'the device of rank 1 fell off the bus'],
    ['endless', 1, 'a step has run for'],
    ['endless', 2, 'a step has run for'],
  ] as const)(
    'a fault (%s) with %i ranks is reported to those in flight, and the next are answered by a new engine',
    async (fault, tensor, message) => {
      // A busy machine may hold up a step that is none.
      await start(tensor, fault === 'endless' ? 7_000 : limits.step);
      const { pid } = client.health();
      expect(rankPids(pid!)).toHaveLength(tensor);
      const old = processTree(pid!);
      // In the midst of the answers, however busy the machine is.
      let isOrdered = false;
      client.onStep(({ stepsTotal }) => {
        if (stepsTotal > 5 && !isOrdered) orderFault(fault);
        isOrdered ||= stepsTotal > 5;
      });
      const flying = Promise.allSettled([ask(400), ask(400)]);
      const cause = { reason: 'EngineFault', message: expect.stringContaining(message) };
      for (const each of await flying) expect(each).toMatchObject({ status: 'rejected', reason: cause });
      expect(client.health().state).toMatchObject({ kind: 'restarting', cause });
      expect(await ask()).toBe(3);
      expect(client.health()).toMatchObject({ state: { kind: 'ready' }, restarts: 1 });
      expect(client.health().pid).not.toBe(pid);
      await eventually('the old processes to be gone', () => old.filter(isRunning).length === 0);
    },
  );

  test('an engine that answers nothing soundly any more is rebuilt after three requests, whoever asked', async () => {
    await start(1);
    expect(await ask()).toBe(3);
    orderFault('unsound');
    writeFileSync(hold, '');
    // Its own questions are answered no better: only a new process is.
    const failed = [1, 2, 3].map(() => ask().catch((error: unknown) => error));
    for (const each of await Promise.all(failed))
      expect(each).toMatchObject({ reason: 'EngineNumericalFault' });
    await eventually('the loss', () => client.health().state.kind === 'restarting');
    expect(client.health().state).toMatchObject({
      cause: { reason: 'EngineNumericalFault', message: expect.stringContaining('layer 1, attention') },
    });
    rmSync(order);
    rmSync(hold);
    expect(await ask()).toBe(3);
    expect(client.health()).toMatchObject({ restarts: 1, numericalFaults: { notFinite: 3 } });
  });

  test('one that is no better after it was rebuilt is given up, with the reason', async () => {
    await start(1);
    orderFault('unsound');
    for (let i = 0; i < 3; i++) await expect(ask()).rejects.toMatchObject({ reason: 'EngineNumericalFault' });
    await eventually('the end', () => client.health().state.kind === 'failed');
    expect(client.health()).toMatchObject({
      state: {
        failure: {
          reason: 'EngineNumericalFault',
          message: expect.stringContaining('answers no request soundly'),
        },
      },
      restarts: 1,
      pid: null,
    });
    await expect(ask()).rejects.toMatchObject({ reason: 'EngineNumericalFault' });
  });
});

describe('a replica', () => {
  let replica: ReplicaProcess;
  beforeEach(async () => {
    replica = await ReplicaProcess.start({ uri: demoCheckpoint, env: faulty });
    await replica.ready();
  });
  afterEach(() => replica.stop());

  const ready = async (): Promise<number> => (await fetch(`${replica.url}/healthz/ready`)).status;
  const complete = (): Promise<Response> =>
    replica.post('/v1/completions', { prompt: 'Hi', max_tokens: 300 });

  test('whose engine breaks answers with the reason, is not ready until it is rebuilt, and then serves', async () => {
    writeFileSync(hold, '');
    orderFault('device');
    const answer = await complete();
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error: { code: 'EngineFault', message: expect.stringContaining('fell off the bus') },
    });
    expect(await ready()).toBe(503);
    expect(existsSync(order)).toBe(false);
    rmSync(hold);
    await replica.eventually('the rebuilt engine', async () => (await ready()) === 200);
    expect((await complete()).status).toBe(200);
    expect((await replica.health()).engine).toMatchObject({ restarts: 1 });
  });

  test('with non-finite logits even after a rebuild ends with the reason', async () => {
    orderFault('unsound');
    for (let i = 0; i < 3; i++) {
      const answer = await complete();
      expect([answer.status, await answer.json()]).toMatchObject([
        500,
        { error: { code: 'EngineNumericalFault' } },
      ]);
    }
    expect(await replica.exited()).toBe(1);
    expect(replica.terminationMessage).toMatchObject({
      reason: 'EngineNumericalFault',
      detail: { kind: 'notFinite', layer: 1, part: 'attention' },
    });
  });
});
