// A weight file that is cut short while ranks read it: the load ends with its name, and nobody is left behind. Once they
// have read it nothing changes, which loading-faults.test.ts shows.

import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLogger } from 'winston';
import { EngineClient } from '../../runtime/src/engine/engine-client.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { childPids, isRunning } from '../process-tree.js';
import { eventually } from '../processes.js';
import { engineSettings } from './engine-settings.js';
import { writeLargeCheckpoint } from './large-checkpoint.js';

jest.setTimeout(120_000);

const sharedNames = readdirSync('/dev/shm');

let modelDir: string;
let client: EngineClient;
beforeEach(() => {
  modelDir = mkdtempSync(join(tmpdir(), 'llmservice-cut-'));
  writeLargeCheckpoint(modelDir);
});
afterEach(async () => {
  await client.stop();
  rmSync(modelDir, { recursive: true });
  expect(readdirSync('/dev/shm')).toEqual(sharedNames);
});

async function tokensOf(): Promise<number> {
  const { signal } = new AbortController();
  let tokens = 0;
  const asked = generateRequest('one', [1, 2, 3], { maxTokens: 2 });
  for await (const output of client.submit(asked, { signal })) tokens += output.tokens.length;
  return tokens;
}

test.each([1, 2])('while %i ranks load it', async (tensor) => {
  client = new EngineClient(
    engineSettings(modelDir, { tensor, threads: null }),
    createLogger({ silent: true }),
  );
  const started = client.start();
  await eventually('the load', () => {
    const { state } = client.health();
    return state.kind === 'loading' && state.loaded.bytesDone > 0;
  });
  const engine = client.health().pid!;
  const pids = [engine, ...childPids(engine)];
  expect(pids).toHaveLength(tensor);
  const cut = performance.now();
  truncateSync(join(modelDir, 'model.safetensors'), 64 * 1024 ** 2);
  await started;
  const took = performance.now() - cut;
  const told = { reason: 'CheckpointCorrupt', message: expect.stringContaining('the file ended early') };
  expect(client.health()).toMatchObject({ state: { kind: 'failed', failure: told }, pid: null });
  process.stdout.write(`weights cut short under ${String(tensor)} ranks: told after ${took.toFixed(0)} ms\n`);
  expect(took).toBeLessThan(5000);
  await expect(tokensOf()).rejects.toMatchObject(told);
  await eventually('all ranks to be gone', () => pids.filter(isRunning).length === 0);
});
