// Encoders on a device against transformers with activations rounded as GPUs round them (on-gpu.json), and against themselves:
// texts beside one another have the bits of each alone. It takes the memory that was planned, to the byte. The same, of short
// texts, on two ranks where that is asked for.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { planMemory, residentWeights } from '@llmservice/checkpoint';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import type { EngineInfo, EngineOptions } from '@llmservice/native';

import { workspaceBytes } from '../../checkpoint/src/memory/workspace.js';
import { distance, embed, loadGolden, noDrafts, room } from '../golden/engine-driver.js';

const poolings = ['cls', 'last', 'mean'] as const;

/** on-gpu.json, as generate/on_gpu.py writes it of encoders. */
type Golden = readonly ({ readonly prompt: number[] } & Readonly<
  Record<(typeof poolings)[number], number[]>
>)[];

/**
 * Allowed lengths of differences, relative to the reference's length: half as much again as the emulator is off. A row of which one
 * sum is rounded otherwise differs by as much as rounding moves it at all, 1e-2: in texts of 64 tokens and more some are, and
 * more on warps of 64 lanes; most of the others are the same to 1e-5. Were nothing rounded, the mean would be 6e-3,
 * of XLM-RoBERTa 2e-3.
 */
const bar = { allowed: 1.5e-2, allowedMean: 3e-3 };

/** @throws AssertionError with what is not as it must be; else says how far the farthest is off, on each number of ranks. */
export async function holdEncoder(
  folder: string,
  device: EngineOptions['device'],
  ranks: readonly number[],
): Promise<string> {
  const said: string[] = [];
  for (const count of ranks)
    said.push(`${await holdOnRanks(folder, device, count)}${count === 1 ? '' : ` on ${count} ranks`}`);
  return said.join('; ');
}

async function holdOnRanks(folder: string, device: EngineOptions['device'], ranks: number): Promise<string> {
  const golden = JSON.parse(readFileSync(`${folder}/on-gpu.json`, 'utf8')) as Golden;
  // Every row counts in the mean; the emulator takes seconds for a text of a hundred tokens. Ranks share heads, not rows.
  const asked = golden
    .flatMap(({ prompt, ...said }) => poolings.map((pooling) => ({ prompt, pooling, wanted: said[pooling] })))
    .filter(({ prompt, pooling }) => (pooling === 'mean' && ranks === 1) || prompt.length <= 64)
    .map((each, slot) => ({ ...each, slot }));
  const engine = await loadGolden(folder, { dtype: 'bfloat16', device }, ranks);
  try {
    await expectPlanned(folder, engine.info, ranks);
    const together = await embed(engine, asked, 512);
    const off = together.map((got, i) => distance(got, asked[i]!.wanted));
    const farthest = off.indexOf(Math.max(...off));
    const { prompt, pooling } = asked[farthest]!;
    const mean = off.reduce((sum, each) => sum + each, 0) / off.length;
    const said =
      `off by ${mean.toExponential(1)} on average (bar ${bar.allowedMean}), ` +
      `by ${off[farthest]!.toExponential(1)} (bar ${bar.allowed}) in ${pooling} of ${prompt.length} tokens`;
    assert.ok(off[farthest]! <= bar.allowed && mean <= bar.allowedMean, said);
    for (const each of asked.filter(({ prompt, pooling }) => pooling === 'mean' && prompt.length < 200)) {
      const alone = await embed(engine, [each], 512);
      assert.deepEqual(
        alone,
        [together[each.slot]],
        `others beside ${each.prompt.length} tokens change bits`,
      );
    }
    return said;
  } finally {
    await engine.dispose();
  }
}

async function expectPlanned(folder: string, info: EngineInfo, tensor: number): Promise<void> {
  const { shape, tensors } = await openCheckpoint(folder);
  const way = { dtype: 'bfloat16', speculative: noDrafts } as const;
  const weights = residentWeights(tensors, shape, { ...way, quantization: 'none' });
  const input = { ...{ ...room, ...way, weights, shape }, accelerator: 'hip', tensor } as const;
  const plan = planMemory({
    ...{ ...input, kvCacheDtype: 'auto', prefixCaching: true },
    memoryBytes: 2 ** 36,
    memoryUtilizationPercent: 90,
  });
  const { weightBytes, kvBytesPerBlock } = plan;
  assert.deepEqual(
    [info.weightBytes, info.kvBytesPerBlock, info.workspaceBytes],
    [weightBytes, kvBytesPerBlock, workspaceBytes(input)],
    'bytes of weights, of a KV block and of the workspace: found, planned',
  );
}
