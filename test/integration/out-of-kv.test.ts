// More sequences than the KV cache has blocks for: who waits, who is refused, and that answers are those of an engine
// with room for all.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLogger } from 'winston';
import { EngineClient } from '../../runtime/src/engine/engine-client.js';
import { planEngine } from '../../runtime/src/engine/plan-engine.js';
import type { GenerateRequest } from '../../runtime/src/engine/protocol.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { modelsDir } from '../golden/golden-values.js';
import { eventually } from '../processes.js';
import { engineSettings } from './engine-settings.js';

jest.setTimeout(120_000);

const settings = engineSettings(`${modelsDir}qwen3_5-bf16`, { maxNumSeqs: 8, maxNumBatchedTokens: 128 });
/** Of one sequence of maxModelLen: the least that an engine is loaded with. */
const fewestBlocks = settings.maxModelLen! / settings.blockSize;

/** The memory with which the plan has blocks for one long sequence and little more. */
async function scarceMemory(): Promise<number> {
  let [tooLittle, enough] = [0, settings.memoryBytesPerDevice!];
  while (enough - tooLittle > 4096) {
    const middle = Math.floor((tooLittle + enough) / 2);
    const plan = await planEngine({ ...settings, memoryBytesPerDevice: middle }).catch(() => null);
    if (plan === null) tooLittle = middle;
    else enough = middle;
  }
  return enough;
}

let client: EngineClient;
beforeEach(async () => {
  client = new EngineClient(
    { ...settings, memoryBytesPerDevice: await scarceMemory() },
    createLogger({ silent: true }),
  );
  await client.start();
  expect(client.health().state.kind).toBe('ready');
});
afterEach(() => client.stop());

let requests = 0;
/** Greedy, over a prompt of its own. */
const request = (maxTokens: number, changes: Partial<GenerateRequest> = {}): GenerateRequest => {
  const salt = requests++;
  const prompt = Array.from({ length: 100 }, (_, i) => 2 + ((i * 37 + salt * 53) % 300));
  return generateRequest(`request-${String(salt)}`, prompt, { maxTokens, ...changes });
};

async function answer(asked: GenerateRequest): Promise<number[]> {
  const tokens: number[] = [];
  const { signal } = new AbortController();
  for await (const output of client.submit(asked, { signal })) tokens.push(...output.tokens);
  return tokens;
}

/** Reported with the step after the last. */
async function expectIdle(): Promise<void> {
  await eventually('an idle engine', () => client.stats?.running === 0);
  expect(client.stats).toMatchObject({ waiting: 0, blocksUsed: 0 });
  expect(client.health()).toMatchObject({ state: { kind: 'ready' }, restarts: 0 });
}

test('sequences are preempted and computed again, to the same answers, and every block comes back', async () => {
  const asked = Array.from({ length: 6 }, () => request(60));
  const alone: number[][] = [];
  for (const each of asked) alone.push(await answer({ ...each, id: `${each.id}-alone` }));
  expect(client.stats?.preemptionsTotal).toBe(0);
  expect(await Promise.all(asked.map(answer))).toEqual(alone);
  const { blocksTotal, preemptionsTotal } = client.stats!;
  expect(blocksTotal).toBeLessThan(2 * fewestBlocks);
  expect(preemptionsTotal).toBeGreaterThan(0);
  process.stdout.write(
    `out of KV: ${String(preemptionsTotal)} preemptions with ${String(blocksTotal)} blocks, no failure\n`,
  );
  await expectIdle();
});

test('who waits longer than it may is refused, and those who run are not disturbed', async () => {
  // Room for one or two at once: they last longer than a slow machine takes to ask.
  const running = Array.from({ length: 24 }, () => answer(request(200)));
  await eventually('all blocks to be taken', () => (client.stats?.waiting ?? 0) > 0);
  const asked = performance.now();
  await expect(answer(request(1, { maxQueueMs: 100 }))).rejects.toMatchObject({ reason: 'QueueTimeout' });
  const took = performance.now() - asked;
  process.stdout.write(`out of KV: QueueTimeout of 100 ms reported after ${took.toFixed(0)} ms\n`);
  for (const tokens of await Promise.all(running)) expect(tokens).toHaveLength(200);
  await expectIdle();
});
