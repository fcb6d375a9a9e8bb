// Ranks in processes of their own, one of which is killed in the midst of 64 requests: the group that is built after it
// gives every request the logits and tokens that the first group gave, in batches, alone and preempted.

import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { Engine } from '@llmservice/native';
import { loadEngine } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { RankProcesses } from '../../runtime/src/engine/rank-processes.js';
import { childPids } from '../process-tree.js';
import { noDrafts } from './engine-driver.js';
import { atOnce, inRandomOrder, sixtyFourRequests } from './identity-requests.js';
import { modelsDir, readGolden } from './reference-bar.js';
import { serve } from './scheduled-run.js';

jest.setTimeout(300_000);

const models = [
  'llama-bf16',
  'qwen3-bf16',
  'qwen3_5-bf16',
  'qwen3_5_moe-bf16',
  'qwen3_5_text-fp8-ranks',
  'qwen3_moe-bf16',
  'qwen3_next-bf16',
];
const room = {
  blockSize: 16,
  numBlocks: 1024,
  maxNumSeqs: 64,
  numStateSnapshots: 8,
  maxModelLen: 256,
  maxNumBatchedTokens: 1024,
  speculative: noDrafts,
};
const limits = { ...room, prefixCaching: true };

interface Group {
  readonly engine: Engine;
  /** Of the process of rank 1. */
  readonly pid: number;
  dispose(): Promise<void>;
}

const groups: Group[] = [];
afterEach(async () => {
  await Promise.all(groups.splice(0).map((group) => group.dispose()));
});

async function startGroup(model: string): Promise<Group> {
  const options = { ...plainOptions, modelDir: modelsDir + model, ...room, logitHashes: true };
  const before = new Set(childPids(process.pid));
  // Rank 0 sees a loss itself: its step fails.
  const ranks = new RankProcesses(options, { size: 2, stages: null, nodes: null }, () => undefined);
  const pid = childPids(process.pid).find((each) => !before.has(each))!;
  const engine = await loadEngine(ranks.options, () => undefined);
  ranks.joined();
  const dispose = async (): Promise<void> => {
    ranks.closing();
    await engine.dispose();
  };
  const group = { engine, pid, dispose };
  groups.push(group);
  return group;
}

describe.each(models)('%s on 2 ranks', (model) => {
  const requests = sixtyFourRequests(readGolden(model).teacherForced.ids);

  test('after the death of rank 1 a new group answers as the first one did', async () => {
    const first = await startGroup(model);
    const { answers } = await serve(first.engine, limits, atOnce(requests));
    expect(answers.size).toBe(64);
    const lost = serve(first.engine, limits, atOnce(requests), (step) => {
      if (step === 3) process.kill(first.pid, 'SIGKILL');
    });
    await expect(lost).rejects.toMatchObject({ reason: 'EngineFault' });

    const second = await startGroup(model);
    expect((await serve(second.engine, limits, inRandomOrder(requests, 7))).answers).toEqual(answers);
    const uncached = { ...limits, prefixCaching: false };
    const few = await serve(second.engine, { ...uncached, numBlocks: 24 }, atOnce(requests));
    expect(few.answers).toEqual(answers);
    expect(few.stats.preemptionsTotal).toBeGreaterThan(0);
    for (const request of requests.slice(0, 16)) {
      const single = (await serve(second.engine, uncached, atOnce([request]))).answers.get(request.id);
      expect(single).toEqual(answers.get(request.id));
    }
  });
});
