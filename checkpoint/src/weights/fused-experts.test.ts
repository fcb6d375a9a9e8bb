import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { gptOssConfig } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkTensors } from './check-tensors.js';
import { inEngineForm } from './fused-experts.js';
import { rankWeightBytes } from './rank-weights.js';
import { residentWeights } from './resident-weights.js';
import { validTensorParallel } from './tensor-parallel.js';

const sizes = {
  num_hidden_layers: 1,
  layer_types: ['full_attention'],
  vocab_size: 640,
  num_local_experts: 8,
};
const shape = parseCheckpointConfig({ ...gptOssConfig, ...sizes });
const at = 'model.layers.0.';
const experts = `${at}mlp.experts.`;

const bf16 = (name: string, ...sides: number[]): TensorEntry => ({
  ...{ name, dtype: 'BF16', shape: sides, bytes: 2 * sides.reduce((product, side) => product * side, 1) },
});
const u8 = (name: string, ...sides: number[]): TensorEntry => ({
  ...bf16(name, ...sides),
  ...{ dtype: 'U8', bytes: sides.reduce((product, side) => product * side, 1) },
});

const others = [
  bf16('model.embed_tokens.weight', 640, 2880),
  bf16('model.norm.weight', 2880),
  bf16('lm_head.weight', 640, 2880),
  bf16(`${at}input_layernorm.weight`, 2880),
  bf16(`${at}post_attention_layernorm.weight`, 2880),
  ...['q', 'k', 'v'].flatMap((each) => [
    bf16(`${at}self_attn.${each}_proj.weight`, each === 'q' ? 4096 : 512, 2880),
    bf16(`${at}self_attn.${each}_proj.bias`, each === 'q' ? 4096 : 512),
  ]),
  bf16(`${at}self_attn.o_proj.weight`, 2880, 4096),
  bf16(`${at}self_attn.o_proj.bias`, 2880),
  bf16(`${at}self_attn.sinks`, 64),
  bf16(`${at}mlp.router.weight`, 8, 2880),
  bf16(`${at}mlp.router.bias`, 8),
  bf16(`${experts}gate_up_proj_bias`, 8, 5760),
  bf16(`${experts}down_proj_bias`, 8, 2880),
];
const coded = [
  ...others,
  u8(`${experts}gate_up_proj_blocks`, 8, 5760, 90, 16),
  u8(`${experts}gate_up_proj_scales`, 8, 5760, 90),
  u8(`${experts}down_proj_blocks`, 8, 2880, 90, 16),
  u8(`${experts}down_proj_scales`, 8, 2880, 90),
];
const plain = [
  ...others,
  bf16(`${experts}gate_up_proj`, 8, 2880, 5760),
  bf16(`${experts}down_proj`, 8, 2880, 2880),
];

const check = (tensors: readonly TensorEntry[]): void => {
  checkTensors(shape, inEngineForm(shape, tensors));
};
const having = (name: string, fields: Partial<TensorEntry>, all = coded): TensorEntry[] =>
  all.map((each) => (each.name === name ? { ...each, ...fields } : each));
const without = (name: string, all = coded): TensorEntry[] => all.filter((each) => each.name !== name);

describe('experts of gpt-oss', () => {
  test('in MXFP4 are blocks of 17 bytes for 32 columns, with where their scales are', () => {
    check(coded);
    const named = inEngineForm(shape, coded);
    expect(named.find(({ name }) => name === `${experts}gate_up_proj`)).toMatchObject({
      ...{ dtype: 'MXFP4', shape: [8, 5760, 2880], bytes: 8 * 5760 * 90 * 17, fused: 'pairedExperts' },
      scaledBy: { name: `${experts}gate_up_proj_scales` },
    });
    expect(named.find(({ name }) => name === `${experts}down_proj`)).toMatchObject({ fused: 'experts' });
    expect(named.filter(({ name }) => /_scales|_blocks/.test(name))).toEqual([]);
  });

  test('that are not quantized lie by columns', () => {
    check(plain);
    const named = inEngineForm(shape, plain);
    expect(named.find(({ name }) => name === `${experts}gate_up_proj`)).toMatchObject({
      ...{ dtype: 'BF16', shape: [8, 5760, 2880], fused: 'pairedExperts' },
    });
    expect(named.find(({ name }) => name === `${at}mlp.gate.bias`)).toBeDefined();
  });

  test('stay packed in memory, and are divided among ranks where no block is cut', () => {
    const speculative = { method: 'none', tokens: 0 } as const;
    const options = { dtype: 'auto', quantization: 'none', speculative } as const;
    const weights = residentWeights(inEngineForm(shape, coded), shape, options);
    const routed = weights.matrices.filter(({ use }) => use === 'routed');
    expect(routed.map(({ parts, cols, copies }) => [parts[0]?.held, cols, copies])).toEqual([
      ['MXFP4', 2880, 8],
      ['MXFP4', 2880, 8],
    ]);
    // 90 blocks of columns to each row of the down projection.
    expect(validTensorParallel(shape, weights)).toEqual([1, 2]);
    const whole = rankWeightBytes(weights, { rank: 0, size: 1, kvHeads: 8 });
    expect(whole).toBeGreaterThan(8 * 8640 * 90 * 17);
  });

  test.each([
    ['without scales', without(`${experts}down_proj_scales`), 'is MXFP4 but there is no tensor'],
    ['without codes', without(`${experts}down_proj_blocks`), 'there is no tensor'],
    ['without either', coded.filter(({ name }) => !/down_proj_(b|s)[^i]/.test(name)), 'has no tensor'],
    ['without sinks', without(`${at}self_attn.sinks`), `has no tensor ${at}self_attn.sinks`],
    ['without biases', without(`${experts}gate_up_proj_bias`), `has no tensor ${experts}gate_up_proj_bias`],
    ['without that of the router', without(`${at}mlp.router.bias`), `has no tensor ${at}mlp.router.bias`],
    [
      'with sinks of another model',
      having(`${at}self_attn.sinks`, { shape: [8] }),
      `tensor ${at}self_attn.sinks has shape [8] where config.json implies [64]`,
    ],
    [
      'with biases of gates alone',
      having(`${experts}gate_up_proj_bias`, { shape: [8, 2880] }),
      `tensor ${experts}gate_up_proj_bias has shape [8, 2880] where config.json implies [8, 5760]`,
    ],
    [
      'with blocks of another length',
      having(`${experts}down_proj_blocks`, { shape: [8, 2880, 45, 32] }),
      'has shape [8, 2880, 45, 32]; blocks of MXFP4 are [experts, rows, columns / 32, 16]',
    ],
    [
      'with scales of other blocks',
      having(`${experts}down_proj_scales`, { shape: [8, 2880, 45] }),
      'where model.layers.0.mlp.experts.down_proj_blocks of shape [8, 2880, 90, 16] takes [8, 2880, 90]',
    ],
    ['with scales in F32', having(`${experts}down_proj_scales`, { dtype: 'F32' }), 'has type F32'],
    ['with both forms', [...coded, bf16(`${experts}down_proj`, 8, 2880, 2880)], 'is there unquantized too'],
    [
      'by rows that are not quantized',
      having(`${experts}gate_up_proj`, { shape: [8, 5760, 2880] }, plain),
      `tensor ${experts}gate_up_proj has shape [8, 5760, 2880] where config.json implies [8, 2880, 5760]`,
    ],
    ['in FP8', having(`${experts}down_proj`, { dtype: 'F8_E4M3' }, plain), 'has type F8_E4M3; experts of'],
    [
      'in one matrix',
      having(`${experts}down_proj`, { shape: [2880, 2880] }, plain),
      'has shape [2880, 2880]',
    ],
  ])('are refused %s', (_what, tensors, problem) => {
    const failure = thrownBy(FailureError, () => {
      check(tensors);
    });
    expect(failure.message).toContain(problem);
  });
});
