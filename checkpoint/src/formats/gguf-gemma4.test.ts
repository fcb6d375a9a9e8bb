import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import type { GgufTensor } from './gguf-header.js';
import type { GgufValue } from './gguf-values.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

/** As the converter writes 26B-A4B, of three layers. */
const keys: Readonly<Record<string, GgufValue>> = {
  block_count: 3,
  context_length: 64,
  embedding_length: 32,
  feed_forward_length: 64,
  'attention.head_count': 4,
  'attention.head_count_kv': [2, 2, 1],
  'attention.key_length': 16,
  'attention.key_length_swa': 8,
  'attention.sliding_window': 32,
  'attention.sliding_window_pattern': [true, true, false],
  'attention.shared_kv_layers': 0,
  embedding_length_per_layer_input: 0,
  expert_count: 8,
  expert_used_count: 2,
  expert_feed_forward_length: 16,
};

const tensor = (name: string, shape: readonly number[], dtype = 'F32'): GgufTensor => ({
  ...{ name, file: 'model.gguf', dtype, shape, offset: 0, bytes: 4 },
});

function checkpointOf(changes: Readonly<Record<string, GgufValue>>, ...others: readonly GgufTensor[]) {
  const values = new Map<string, GgufValue>([['general.architecture', 'gemma4']]);
  for (const [key, value] of Object.entries({ ...keys, ...changes })) values.set(`gemma4.${key}`, value);
  const tensors = [
    tensor('token_embd.weight', [10, 32]),
    tensor('rope_freqs.weight', [8]),
    tensor('blk.0.ffn_gate_inp.scale', [32]),
    tensor('blk.0.ffn_down_exps.scale', [8]),
    tensor('blk.0.ffn_up.weight', [64, 32]),
    ...others,
  ];
  return readGgufCheckpoint({ file: 'model.gguf', values, tensors });
}

test('lists by layer, experts with scales of their own beside a dense layer, keys that are values', () => {
  const { shape, tensors } = checkpointOf({});
  expect(shape).toMatchObject({
    ...{ architecture: 'gemma4_moe', windows: [32, 32, 0], kvHeads: 2, headDim: 8, rotaryDim: 16 },
    globalAttention: { kvHeads: 1, headDim: 16, keysAreValues: true },
    moe: { experts: 8, topK: 2, ffn: 16, sharedFfn: 64, ownNorms: true },
  });
  expect(tensors.map(({ name }) => name).slice(2)).toEqual([
    'model.layers.0.router.scale',
    'model.layers.0.router.per_expert_scale',
    'model.layers.0.mlp.shared_expert.up_proj.weight',
  ]);
});

test.each<[string, Readonly<Record<string, GgufValue>>, readonly GgufTensor[], string]>([
  [
    'a pattern of windows by a number',
    { 'attention.sliding_window_pattern': 6 },
    [],
    'a list of true and false',
  ],
  ['KV heads of one kind that differ', { 'attention.head_count_kv': [2, 1, 1] }, [], 'head_count_kv differs'],
  ['too few KV heads', { 'attention.head_count_kv': [2, 2] }, [], 'or 3 of them'],
  ['other widths', { feed_forward_length: [64, 32, 64] }, [], 'feed_forward_length differs'],
  ['values of another width', { 'attention.value_length_swa': 16 }, [], 'value_length_swa differs'],
  [
    'experts in NVFP4',
    {},
    [tensor('blk.0.ffn_down_exps.weight', [8, 32, 64], 'NVFP4')],
    'a file made as Q8_0 or Q4_K_M',
  ],
  [
    'a last layer with a window',
    { 'attention.sliding_window_pattern': [false, true, true] },
    [],
    'gives the last layer a window',
  ],
  [
    'experts that no key counts',
    { expert_count: 0 },
    [tensor('blk.0.ffn_gate_inp.weight', [8, 32])],
    'expert_count is 0 or missing',
  ],
  [
    'embeddings of layers that no key counts',
    {},
    [tensor('per_layer_token_embd.weight', [10, 48])],
    'embedding_length_per_layer_input is 0 or missing',
  ],
  ['angles that are scaled', { 'rope.scaling.type': 'yarn' }, [], 'rope.scaling.type is not what gemma4'],
  ['experts by sigmoids', { expert_gating_func: 2 }, [], 'expert_gating_func is not'],
  ['experts that weigh more', { expert_weights_scale: 2.5 }, [], 'expert_weights_scale is not'],
  ['capped scores', { attn_logit_softcapping: 50 }, [], 'attn_logit_softcapping is not'],
  ['attention to both sides', { 'attention.causal': false }, [], 'attention.causal is not'],
  [
    'values of one layer alone',
    {
      'attention.sliding_window_pattern': [false, true, false],
      'attention.head_count_kv': [1, 2, 1],
    },
    [tensor('blk.0.attn_v.weight', [16, 32])],
    'has no tensor blk.2.attn_v.weight',
  ],
  ['a tensor of another model', {}, [tensor('blk.0.altup_proj.weight', [8])], 'is not one that gemma4 has'],
])('%s is refused', (_name, changes, others, message) => {
  expect(thrownBy(FailureError, () => checkpointOf(changes, ...others)).message).toContain(message);
});
