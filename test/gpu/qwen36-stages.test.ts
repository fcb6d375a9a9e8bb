import { describe, expect, test } from '@jest/globals';
import { qwen36Tensors } from '../../checkpoint/src/weights/qwen36-tensors.fixture.js';
import {
  expectedDevice,
  launchSecondsOf,
  memoryBoundDevice,
  stepSeconds,
  timeOf,
  type Stage,
} from './expected-times.js';
import { qwen36Stages, qwen36Weights } from './qwen36-stages.js';

const elements = (pattern: RegExp): number =>
  qwen36Tensors
    .filter(({ name }) => pattern.test(name))
    .reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);

const decode = { rows: 1, sequences: 1, context: 8192, outputs: 1, chunked: false };
const prompt = { rows: 2048, sequences: 1, context: 1024, outputs: 1, chunked: true };
const card = expectedDevice('SPX', 1, 304, 5300e9);
const partition = expectedDevice('CPX', 2, 38, 663e9);
const find = (stages: readonly Stage[], name: string): Stage => stages.find((stage) => stage.name === name)!;

test('weights are those of the checkpoint', () => {
  const { gdn, attention, ffn, head } = qwen36Weights;
  expect(48 * gdn.fp8).toBe(elements(/linear_attn\.(in_proj_qkv|in_proj_z|out_proj)\.weight$/));
  expect(48 * gdn.bf16).toBe(elements(/linear_attn\.in_proj_[ab]\.weight$/));
  expect(16 * attention.fp8).toBe(elements(/self_attn\.[qkvo]_proj\.weight$/));
  expect(64 * ffn.fp8).toBe(elements(/mlp\.\w+\.weight$/));
  expect(head.bf16).toBe(elements(/^lm_head/));
});

test('peaks are those of the data sheet: 2,614.9 and 1,307.4 TFLOP/s, 163.4 in float32', () => {
  expect(card.rates.fp8 / 1e12).toBeCloseTo(2614.9, 1);
  expect(card.rates.bf16 / 1e12).toBeCloseTo(1307.4, 1);
  expect(card.rates.fp32 / 1e12).toBeCloseTo(163.4, 1);
  expect(partition.rates.fp8).toBe(card.rates.fp8 / 8);
});

describe('a step of one token', () => {
  test('reads every weight of a rank once, and so is bound by memory', () => {
    const stages = qwen36Stages(decode, 2);
    // By hand, FFN of one rank: 3 × 17,408 × 5,120 / 2 bytes, 1 / 2,048 of that in scales, and 4 × 2 bytes for each of
    // 5,120 + 2 × 17,408 / 2 activations, 2 bytes for each of 17,408 / 2 codes.
    expect(find(stages, 'FFN').bytes).toBe(133_693_440 * (1 + 1 / 2048) + 8 * (5120 + 17_408) + 17_408);
    const bounds = stages.map((stage) => timeOf(stage, partition).bound);
    expect(bounds).toEqual(['memory', 'memory', 'memory', 'memory', 'memory', 'waiting']);
  });

  test('on two partitions takes their memory some 26 ms, at four fifths of its bandwidth, and launches 4', () => {
    // 13.8 GB of weights, KV and states a rank / 530 GB/s. By hand: 305 products of 7.2 µs, 344 others of 5.5.
    const stages = qwen36Stages(decode, 2).filter(({ waiting }) => waiting === 0);
    const launching = stages.reduce((sum, each) => sum + each.times * launchSecondsOf(each, partition), 0);
    expect(launching).toBeCloseTo(305 * 7.2e-6 + 344 * 5.5e-6, 9);
    expect(stepSeconds(stages, partition) - launching).toBeGreaterThan(0.025);
    expect(stepSeconds(stages, partition) - launching).toBeLessThan(0.027);
  });

  // Before, 761 launches were counted and 9.72 ms measured, after 1,024 tokens (test/bench/RESULTS.md).
  test('on an H200 takes what was measured, with the launches of its layers that are joined since', () => {
    const h200 = memoryBoundDevice('H200', 4800e9);
    const stages = qwen36Stages({ ...decode, context: 1024 }, 1);
    const launches = stages.reduce(
      (sum, { times, launches: { products, others } }) => sum + times * (products + others),
      0,
    );
    const joined = 3 * 48 + 16;
    expect(launches + joined).toBe(761);
    expect(stepSeconds(stages, h200) + joined * h200.launchSeconds.others).toBeCloseTo(9.72e-3, 3);
  });

  test('reads more KV with more context, and nothing else', () => {
    const longer = qwen36Stages({ ...decode, context: 16384 }, 1);
    const changed = qwen36Stages(decode, 1).map((stage, i) => longer[i]!.bytes - stage.bytes);
    expect(changed).toEqual([0, 0, 8192 * 2 * 4 * 256 * 2, 0, 0]);
  });
});

test('more sequences read more KV and states, and the same weights', () => {
  const sixteen = { ...decode, rows: 16, sequences: 16, outputs: 16 };
  const grown = qwen36Stages(sixteen, 1).map((stage, i) => stage.bytes - qwen36Stages(decode, 1)[i]!.bytes);
  // Fifteen times: activations twice, KV of 8,192 positions, and (48 × 128 × 128 + 10,240 × 3) floats read and written.
  const activations = (shared: number): number => 8 * (5120 + shared);
  expect(grown.map((bytes) => bytes / 15)).toEqual([
    5120 * 6,
    activations(16384 + 96 + 6144) + 8 * (48 * 128 * 128 + 10240 * 3),
    activations(14336 + 6144) + 8192 * 2 * 4 * 256 * 2,
    activations(2 * 17408) + 2 * 17408,
    4 * 248320,
  ]);
});

describe('a prompt of 2,048 tokens', () => {
  test('is bound by the matrix units in every layer', () => {
    const stages = qwen36Stages(prompt, 1);
    for (const name of ['GDN layer', 'attention layer', 'FFN'])
      expect(timeOf(find(stages, name), card).bound).toBe('matrix units');
  });

  test('has twice as many operations as weights times tokens, and those of attention and of chunks', () => {
    const stages = qwen36Stages(prompt, 2);
    expect(find(stages, 'FFN').operations).toEqual({ fp8: 2048 * 3 * 17408 * 5120, bf16: 0, fp32: 0 });
    expect(find(stages, 'attention layer').operations.bf16).toBe(2 * 2048 * 1024 * 24 * 256);
    // By hand, a chunk of a head: 5 × 1,048,576 + 3 × 2,097,152 + 174,763.
    expect(find(stages, 'GDN layer').operations.fp32 / (32 * 24)).toBeCloseTo(11_709_099, -1);
  });

  test('shares its products among ranks evenly, and adds sums over them', () => {
    const [one, two] = [qwen36Stages(prompt, 1), qwen36Stages(prompt, 2)];
    expect(find(two, 'FFN').operations.fp8).toBe(find(one, 'FFN').operations.fp8 / 2);
    expect(one.map(({ name }) => name)).not.toContain('sum over ranks');
    expect(find(two, 'sum over ranks').times).toBe(128);
  });
});
