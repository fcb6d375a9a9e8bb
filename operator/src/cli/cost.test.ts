import { expect, test } from '@jest/globals';
import { parseCheckpointConfig, planMemory, type ResidentWeights } from '@llmservice/checkpoint';
import { qwen3MoeConfig } from '../../../checkpoint/src/config/config.fixture.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { costOf, type CostInputs } from './cost.js';

const shape = parseCheckpointConfig(qwen3MoeConfig);

/** 4 GB that every row reads, 16 GB of experts, and a table of which rows are looked up. */
const weights: ResidentWeights = {
  matrices: (
    [
      ['every', 4e9],
      ['routed', 16e9],
      ['lookup', 1e9],
    ] as const
  ).map(([use, bytes]) => ({
    use,
    cols: 64,
    parts: [{ rows: bytes / 128, held: 'bfloat16', split: 'rows' }],
    copies: 1,
  })),
  vectors: [],
};

function inputs(accelerator: object, spec: object = {}): CostInputs {
  const service = wantedService({ accelerator, replicas: 3, engine: { maxNumSeqs: 8 }, ...spec });
  const plan = planMemory({
    ...{ shape, weights, accelerator: 'cuda', tensor: service.tensor, memoryBytes: 80e9, maxModelLen: 4096 },
    ...{ memoryUtilizationPercent: 85, maxNumSeqs: 8, maxNumBatchedTokens: 2048, blockSize: 64 },
    ...{ prefixCaching: true, dtype: 'auto', kvCacheDtype: 'auto' },
    speculative: { method: 'none', tokens: 3 },
  });
  return { service, shape, weights, plan, pricePerDeviceHour: 4, meanTokens: 2048 };
}

// H100: 3,350 GB/s. One sequence reads 4 GB, 8 of 128 experts (1 GB) and 2,048 tokens x 98,304 bytes of KV:
// 5.2013 GB in 1.5526 ms, 644 tokens a second; an hour of 4.00 makes 2.319 M of them: 1.725 a million.
// Eight at once read 4 GB, 1 - (120 / 128)^8 = 40.33 % of the experts and 8 x 0.2013 GB: 12.06 GB in 3.601 ms.
test('a token costs what reading weights, its experts and its KV takes', () => {
  const { perHour, devices, estimates } = costOf(inputs({ profile: 'h100' }));
  expect([perHour, devices]).toEqual([12, 3]);
  const [one, most] = estimates!;
  expect(one!.sequences).toBe(1);
  expect(one!.tokensPerSecond).toBeCloseTo(3350 / 5.20133, 0);
  expect(one!.perMillionTokens).toBeCloseTo(1.725, 2);
  expect(most!.sequences).toBe(8);
  expect(most!.tokensPerSecond).toBeCloseTo((8 * 3350) / (4 + 0.403287 * 16 + 8 * 0.201327), 0);
});

test('two ranks read at the same time, and cost twice as much by the hour', () => {
  const alone = costOf(inputs({ profile: 'h100' })).estimates![0]!;
  const both = costOf(inputs({ profile: 'h100', devices: 2 }));
  expect(both.perHour).toBe(24);
  expect(both.estimates![0]!.tokensPerSecond / alone.tokensPerSecond).toBeCloseTo(2, 1);
});

test('prefill pods cost as much as replicas, and their price is in that of a token', () => {
  const alone = costOf(inputs({ profile: 'h100' }));
  const disaggregation = { prefill: { replicas: 2 } };
  const { perHour, devices, estimates } = costOf(inputs({ profile: 'h100' }, { disaggregation }));
  expect([perHour, devices]).toEqual([20, 5]);
  const [before, after] = [alone.estimates![0]!, estimates![0]!];
  expect(after.tokensPerSecond).toBe(before.tokensPerSecond);
  expect(after.perMillionTokens / before.perMillionTokens).toBeCloseTo(5 / 3, 6);
});

test('without a profile there is no bandwidth to estimate with', () => {
  const { perHour, estimates } = costOf(inputs({ resourceName: 'nvidia.com/gpu', memoryPerDevice: '80G' }));
  expect(perHour).toBe(12);
  expect(estimates).toBeNull();
});
