import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { qwen36Config, qwen3MoeConfig } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkDraftTensors, checkTensors } from './check-tensors.js';
import { inEngineForm } from './fused-experts.js';
import { wholeHead, wholeTrunk } from './whole-tensors.fixture.js';

const { text_config: text, ...outer } = qwen36Config;
const hybrid = parseCheckpointConfig({
  ...outer,
  text_config: { ...text, num_hidden_layers: 4, hidden_size: 320 },
});
const whole = wholeTrunk(hybrid);
const gate = 'model.layers.0.mlp.gate_proj.weight';
const norm = 'model.norm.weight';

/** With these fields of a tensor changed, or with a tensor that was not there. */
function having(name: string, fields: Partial<TensorEntry>, all = whole): TensorEntry[] {
  const tensor = {
    ...{ name, dtype: 'BF16', shape: [], bytes: 0 },
    ...all.find((each) => each.name === name),
  };
  return [...all.filter((each) => each.name !== name), { ...tensor, ...fields }];
}

const fp8 = (...scale: readonly number[]): TensorEntry[] =>
  having(`${gate}_scale_inv`, { dtype: 'F32', shape: scale }, having(gate, { dtype: 'F8_E4M3' }));
const exponents = having(`${gate}_scale_inv`, { dtype: 'F8_E8M0' }, fp8(136, 3));
const int8 = (...scale: readonly number[]): TensorEntry[] =>
  having(`${gate}_scale`, { dtype: 'BF16', shape: scale }, having(gate, { dtype: 'I8' }));
const fourBits = having(gate, { dtype: 'U8', shape: [17408, 160] });
const grouped = having(`${gate}_scale`, { dtype: 'F8_E4M3', shape: [17408, 20] }, fourBits);
const nvfp4 = having(`${gate}_scale_2`, { dtype: 'F32', shape: [] }, grouped);

test.each([
  ['BF16', whole],
  ['FP8 with a scale per block', fp8(136, 3)],
  ['FP8 with a scale per row', fp8(17408, 1)],
  ['FP8 with one scale', fp8()],
  ['NVFP4', nvfp4],
  ['FP8 with exponents for scales', inEngineForm(hybrid, exponents)],
  ['INT8 with a scale per row', int8(17408, 1)],
  [
    'BF16, with a tower that nobody reads',
    having('model.visual.proj.weight', { dtype: 'I64', shape: [1, 1] }),
  ],
])('takes a checkpoint in %s', (_, tensors) => {
  expect(() => checkTensors(hybrid, tensors)).not.toThrow();
});

test('takes experts one by one', () => {
  const sparse = parseCheckpointConfig({ ...qwen3MoeConfig, num_hidden_layers: 2 });
  expect(() => checkTensors(sparse, wholeTrunk(sparse))).not.toThrow();
});

test.each([
  [
    'without a tensor',
    whole.slice(0, -1),
    'CheckpointIncomplete',
    'has no tensor model.layers.3.mlp.down_proj.weight',
  ],
  [
    'with other sides',
    having(norm, { shape: [319] }),
    'CheckpointCorrupt',
    'shape [319] where config.json implies [320]',
  ],
  [
    'with a coded vector',
    having(norm, { dtype: 'F8_E4M3' }),
    'UnsupportedQuantization',
    `${norm} has type F8_E4M3`,
  ],
  [
    'with a matrix of integers',
    having(gate, { dtype: 'I32' }),
    'UnsupportedQuantization',
    `${gate} has type I32`,
  ],
  [
    'with FP8 and no scale',
    having(gate, { dtype: 'F8_E4M3' }),
    'CheckpointIncomplete',
    'is FP8 but there is no tensor',
  ],
  ['with FP8 and too many scales', fp8(137, 3), 'UnsupportedQuantization', 'per 128x128 block ([136, 3])'],
  [
    'with a scale and no FP8',
    fp8(136, 3).map((each) => ({ ...each, dtype: 'BF16' })),
    'CheckpointCorrupt',
    'has a scale',
  ],
  ['with bytes and no scale', fourBits, 'UnsupportedQuantization', `no tensor ${gate}_scale`],
  ['with NVFP4 and no global scale', grouped, 'UnsupportedQuantization', `no tensor ${gate}_scale_2`],
  [
    'with INT8 and no scale',
    having(gate, { dtype: 'I8' }),
    'UnsupportedQuantization',
    `has type I8, which is read with a scale per row, but there is no tensor ${gate}_scale`,
  ],
  ['with INT8 and a scale per block', int8(136, 3), 'UnsupportedQuantization', 'takes [17408, 1]'],
  [
    'with FP8 of another kind',
    having(gate, { dtype: 'F8_E5M2' }),
    'UnsupportedQuantization',
    `${gate} has type F8_E5M2; supported are F32, BF16, F16, F8_E4M3`,
  ],
  [
    'with NVFP4 and exponents for scales',
    inEngineForm(hybrid, having(`${gate}_scale`, { dtype: 'F8_E8M0' }, nvfp4)),
    'UnsupportedQuantization',
    'has type F8_E8M0; the group scales of NVFP4 are F8_E4M3',
  ],
  [
    'with FP8 and scales in bytes',
    having(`${gate}_scale_inv`, { dtype: 'U8' }, fp8(136, 3)),
    'UnsupportedQuantization',
    'has type U8; scales of this kind are F32, BF16, F16 or F8_E8M0',
  ],
  [
    'with NVFP4 in other groups',
    having(`${gate}_scale`, { shape: [17408, 10] }, nvfp4),
    'UnsupportedQuantization',
    '[17408, 20]',
  ],
] as [string, TensorEntry[], string, string][])('refuses a checkpoint %s', (_, tensors, reason, message) => {
  const { failure } = thrownBy(FailureError, () => checkTensors(hybrid, tensors));
  expect(failure).toMatchObject({ reason, message: expect.stringContaining(message) as unknown });
});

test('refuses one scale for a whole stack of experts as another quantization', () => {
  const name = 'model.layers.0.mlp.experts.gate_up_proj';
  const stack = { name, dtype: 'F8_E4M3', shape: [4, 256, 320], bytes: 0 };
  const scale = { name: `${name}_scale`, dtype: 'F32', shape: [1], bytes: 0 };
  const { failure } = thrownBy(FailureError, () => checkTensors(hybrid, [...whole, stack, scale]));
  expect(failure.message).toBe(`tensor ${name}_scale has shape [1], but ${name} stacks 4`);
  expect(failure.reason).toBe('UnsupportedQuantization');
});

describe('the layer for multi-token prediction', () => {
  const head = wholeHead(hybrid);

  test('is judged apart from the model', () => {
    expect(() => checkTensors(hybrid, [...whole, ...head.slice(1)])).not.toThrow();
    expect(() => checkDraftTensors(hybrid, [...whole, ...head])).not.toThrow();
  });

  test('is refused where a tensor is missing', () => {
    const { failure } = thrownBy(FailureError, () => checkDraftTensors(hybrid, head.slice(0, -1)));
    expect(failure.message).toBe('the checkpoint has no tensor mtp.layers.0.mlp.down_proj.weight');
  });
});
