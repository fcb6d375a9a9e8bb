// An engine of several rank processes, as the server has it: answers as one rank does, and loses ranks in every way.
// Each loss is followed to its end: what the client saw, after how long (which is printed), and that nothing is left behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sharedMemoryNeeded } from '@llmservice/checkpoint';
import { createLogger } from 'winston';
import { EngineClient } from '../../runtime/src/engine/engine-client.js';
import type { EngineSettings, GenerateRequest } from '../../runtime/src/engine/protocol.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { modelsDir } from '../golden/golden-values.js';
import { eventually } from '../processes.js';
import { engineSettings } from './engine-settings.js';
import { harmLoad } from './harmed-load.js';
import { writeLargeCheckpoint } from './large-checkpoint.js';
import { environment, isRunning, rankPids as pidsOf } from '../process-tree.js';

jest.setTimeout(120_000);

const logger = createLogger({ silent: true });
const settings = engineSettings(`${modelsDir}qwen3_5_text-fp8-ranks`, { tensor: 2, threads: null });

let requests = 0;
function request(length: number, maxTokens: number): GenerateRequest {
  const prompt = Int32Array.from({ length }, (_, i) => (requests * 131 + i * 17) % 300);
  return generateRequest(`request-${String(requests++)}`, prompt, { maxTokens });
}

async function generate(client: EngineClient, asked: GenerateRequest): Promise<number[]> {
  const tokens: number[] = [];
  const { signal } = new AbortController();
  for await (const output of client.submit(asked, { signal })) tokens.push(...output.tokens);
  return tokens;
}

/** Requests of one kind without end, until one fails: its failure, and when. */
async function failureUnder(
  client: EngineClient,
  load: () => GenerateRequest,
): Promise<{ error: unknown; at: number }> {
  const one = async (): Promise<never> => {
    for (;;) await generate(client, load());
  };
  const lost = await Promise.allSettled([one(), one(), one()]);
  return { error: (lost[0] as PromiseRejectedResult).reason, at: performance.now() };
}

/** Process ids by rank: the engine process, then those that it forked, in order. */
function rankPids(client: EngineClient): number[] {
  return pidsOf(client.health().pid!);
}

function sharedMemory(): { names: string[]; used: number } {
  const { blocks, bfree, bsize } = statfsSync('/dev/shm');
  return { names: readdirSync('/dev/shm'), used: (blocks - bfree) * bsize };
}

const before = sharedMemory();
let client: EngineClient | null = null;

async function start(changes: Partial<EngineSettings> = {}): Promise<EngineClient> {
  client = new EngineClient({ ...settings, ...changes }, logger);
  await client.start();
  return client;
}

afterEach(async () => {
  await client?.stop();
  client = null;
  await eventually('the shared memory to be free again', () => sharedMemory().used <= before.used);
  expect(sharedMemory().names).toEqual(before.names);
});

test('2 and 4 ranks answer as one does, and end with the engine', async () => {
  const prompts = [request(1, 24), request(40, 24), request(100, 24), request(400, 24)];
  const answers: number[][][] = [];
  for (const tensor of [1, 2, 4]) {
    const engine = await start({ tensor, dtype: 'float32' });
    const collectives = tensor === 1 ? null : 'own';
    expect(engine.health().state).toMatchObject({ kind: 'ready', info: { collectives } });
    const pids = rankPids(engine);
    expect(pids).toHaveLength(tensor);
    answers.push(await Promise.all(prompts.map((prompt) => generate(engine, prompt))));
    await engine.stop();
    await eventually('all ranks to end', () => pids.filter(isRunning).length === 0);
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

test('every rank has the variables that the container has', async () => {
  const given = { NCCL_DEBUG: 'WARN', NCCL_MIN_NCHANNELS: '112', HSA_ENABLE_IPC_MODE_LEGACY: '0' };
  const own = { ...process.env };
  Object.assign(process.env, given);
  try {
    const pids = rankPids(await start({ tensor: 4 }));
    expect(pids).toHaveLength(4);
    for (const pid of pids) expect(environment(pid)).toMatchObject(given);
  } finally {
    process.env = own;
  }
});

const harms = [
  {
    how: 'killed',
    signal: 'SIGKILL',
    ofEngine: 'the engine process ended: SIGKILL',
    ofRank: 'ended while',
  },
  {
    how: 'stopped',
    signal: 'SIGSTOP',
    ofEngine: 'no sign of life',
    ofRank: 'stalled while',
  },
] as const;

describe.each(harms)('a rank that is $how', ({ signal, ofEngine, ofRank }) => {
  /** The message for rank 0 names the engine process, for the others of a rank and what it was at. */
  function expectedFailure(rank: number, ranks: number, pid: number): object {
    const named = `Rank ${String(rank)} of ${String(ranks)} (process ${String(pid)}) ${ofRank}`;
    return { reason: 'EngineFault', message: expect.stringContaining(rank === 0 ? ofEngine : named) };
  }

  describe.each([
    ['prefill', () => request(500, 1)],
    ['decode', () => request(1, 400)],
  ] as const)('in %s', (phase, load) => {
    test.each([
      [0, 2, 1],
      [1, 2, 1],
      [2, 4, 1],
      [1, 2, 2],
    ])('rank %i of %i, in %i stages', async (rank, ranks, pipeline) => {
      const engine = await start({ tensor: ranks / pipeline, pipeline });
      const failing = failureUnder(engine, load);
      await eventually('steps', () => (engine.stats?.stepsTotal ?? 0) > 20);
      const pids = rankPids(engine);
      const harmed = performance.now();
      process.kill(pids[rank]!, signal);
      const { error, at } = await failing;
      expect(error).toMatchObject(expectedFailure(rank, ranks, pids[rank]!));
      const which = `rank ${String(rank)} of ${String(ranks)} (${String(pipeline)} stages)`;
      report(`${signal} of ${which} in ${phase}`, at - harmed, error);
      await eventually('the old ranks to be gone', () => pids.filter(isRunning).length === 0);
      expect(await generate(engine, request(3, 5))).toHaveLength(5);
      expect(engine.health()).toMatchObject({ state: { kind: 'ready' }, restarts: 1 });
    });
  });

  describe('in load', () => {
    let modelDir: string;
    beforeAll(() => {
      modelDir = mkdtempSync(join(tmpdir(), 'llmservice-large-'));
      writeLargeCheckpoint(modelDir);
    });
    afterAll(() => rmSync(modelDir, { recursive: true }));

    test.each([0, 1])('rank %i of 2', async (rank) => {
      const make = (): EngineClient => (client = new EngineClient({ ...settings, modelDir }, logger));
      const harmed = await harmLoad(make, (pids) => process.kill(pids[rank]!, signal));
      const { pids } = harmed;
      const { state } = harmed.client.health();
      expect(state).toMatchObject({ kind: 'failed', failure: expectedFailure(rank, 2, pids[rank]!) });
      report(
        `${signal} of rank ${String(rank)} of 2 in load`,
        harmed.tookMs,
        state.kind === 'failed' ? state.failure : state,
      );
      await expect(generate(harmed.client, request(3, 5))).rejects.toMatchObject(
        expectedFailure(rank, 2, pids[rank]!),
      );
      await eventually('all ranks to be gone', () => pids.filter(isRunning).length === 0);
    });
  });
});

test('a rank that is killed between steps is noticed too', async () => {
  const engine = await start();
  const pids = rankPids(engine);
  const harmed = performance.now();
  process.kill(pids[1]!, 'SIGKILL');
  await eventually('the loss', () => engine.health().restarts === 1);
  const took = performance.now() - harmed;
  report('SIGKILL of rank 1 of 2 between steps', took, engine.health().state);
  await eventually('the old ranks to be gone', () => pids.filter(isRunning).length === 0);
  expect(await generate(engine, request(3, 5))).toHaveLength(5);
});

/** A server of its own process, for what this one cannot do: lose its /dev/shm, and be killed. */
function serverScript(): string[] {
  const module = fileURLToPath(new URL('../../runtime/dist/engine/engine-client.js', import.meta.url));
  const script = `
    import { EngineClient } from ${JSON.stringify(module)};
    const quiet = { info() {}, error() {} };
    const client = new EngineClient(${JSON.stringify(settings)}, quiet);
    const began = performance.now();
    await client.start();
    const tookMs = performance.now() - began;
    const ask = async () => {
      for await (const _ of client.submit({ id: 'one' }, { signal: new AbortController().signal }));
    };
    const failed = client.health().state.kind === 'failed';
    const reason = failed ? await ask().catch(({ reason }) => reason) : null;
    console.log(JSON.stringify({ ...client.health(), tookMs, reason }));
    if (client.health().state.kind === 'failed') process.exit(0);`;
  return [process.execPath, '--input-type=module', '--eval', script];
}

async function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of output) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text;
}

test.each([
  ['too small', '-o size=1m', 'true'],
  ['full', '-o size=8m', 'head -c 7M /dev/zero >/dev/shm/other'],
])('a /dev/shm that is %s is reported with the size needed', async (what, size, fill) => {
  const mount = `mount -t tmpfs ${size} tmpfs /dev/shm && ${fill} && exec "$@"`;
  const server = spawn('unshare', ['--mount', 'sh', '-c', mount, 'sh', ...serverScript()]);
  const exited = once(server, 'exit');
  const { state, pid, tookMs, reason } = JSON.parse(await firstLine(server.stdout)) as ReturnType<
    EngineClient['health']
  > & { tookMs: number; reason: string };
  expect(reason).toBe('SharedMemoryTooSmall');
  expect(state).toMatchObject({ kind: 'failed', failure: { reason: 'SharedMemoryTooSmall' } });
  report(`a /dev/shm that is ${what}`, tookMs, state.kind === 'failed' ? state.failure : state);
  // Its mount, and so whatever was in it, goes with the last process that has it.
  expect([pid, await exited]).toEqual([null, [0, null]]);
  expect(JSON.stringify(state)).toContain(`over ${String(sharedMemoryNeeded(2))} bytes of /dev/shm`);
});

test('a server that is killed leaves no rank behind, stopped or not', async () => {
  const [program, ...args] = serverScript();
  const server = spawn(program!, args);
  const { pid } = JSON.parse(await firstLine(server.stdout)) as { pid: number };
  const pids = rankPids({ health: () => ({ pid }) } as unknown as EngineClient);
  expect(pids).toHaveLength(2);
  process.kill(pids[1]!, 'SIGSTOP');
  const killed = performance.now();
  server.kill('SIGKILL');
  await eventually('all ranks to be gone', () => pids.filter(isRunning).length === 0);
  const took = performance.now() - killed;
  process.stdout.write(`SIGKILL of the server: all ranks gone after ${took.toFixed(0)} ms\n`);
});

function report(what: string, tookMs: number, saw: unknown): void {
  const message = (saw as { message?: string }).message ?? JSON.stringify(saw);
  process.stdout.write(`${what}: reported after ${tookMs.toFixed(0)} ms: ${message}\n`);
}
