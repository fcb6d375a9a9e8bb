// A weight file that is cut short while ranks read it: the load ends with its name, and nobody is left behind. Once they
// have read it nothing changes, which loading-faults.test.ts shows.

import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLogger } from 'winston';
import { EngineClient } from '../../runtime/src/engine/engine-client.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { isRunning } from '../process-tree.js';
import { eventually } from '../processes.js';
import { engineSettings } from './engine-settings.js';
import { harmLoad } from './harmed-load.js';
import { writeLargeCheckpoint } from './large-checkpoint.js';

jest.setTimeout(120_000);

const sharedNames = readdirSync('/dev/shm');

let modelDir: string;
let client: EngineClient;
beforeEach(() => {
  modelDir = mkdtempSync(join(tmpdir(), 'llmservice-cut-'));
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
  const make = (): EngineClient => {
    writeLargeCheckpoint(modelDir);
    const settings = engineSettings(modelDir, { tensor, threads: null });
    return (client = new EngineClient(settings, createLogger({ silent: true })));
  };
  const cut = (): void => truncateSync(join(modelDir, 'model.safetensors'), 64 * 1024 ** 2);
  const { pids, tookMs } = await harmLoad(make, cut);
  expect(pids).toHaveLength(tensor);
  const expected = { reason: 'CheckpointCorrupt', message: expect.stringContaining('the file ended early') };
  expect(client.health()).toMatchObject({ state: { kind: 'failed', failure: expected }, pid: null });
  process.stdout.write(
    `weights cut short under ${String(tensor)} ranks: reported after ${tookMs.toFixed(0)} ms\n`,
  );
  await expect(tokensOf()).rejects.toMatchObject(expected);
  await eventually('all ranks to be gone', () => pids.filter(isRunning).length === 0);
});
