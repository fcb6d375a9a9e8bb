import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { modernBertConfig } from '../config/modernbert-config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import type { PlacedTensor } from '../formats/safetensors-header.js';
import { checkTensors } from './check-tensors.js';
import { inEngineForm } from './fused-experts.js';

const shape = parseCheckpointConfig({
  ...modernBertConfig,
  ...{ hidden_size: 8, num_attention_heads: 2, intermediate_size: 6, num_hidden_layers: 2, vocab_size: 10 },
});

const tensor = (name: string, ...sides: number[]): PlacedTensor => ({
  ...{ name, dtype: 'BF16', shape: sides, offset: 100 },
  bytes: 2 * sides.reduce((product, side) => product * side, 1),
});

const layer = (i: number): PlacedTensor[] => [
  ...(i === 0 ? [] : [tensor(`layers.${String(i)}.attn_norm.weight`, 8)]),
  tensor(`layers.${String(i)}.attn.Wqkv.weight`, 24, 8),
  tensor(`layers.${String(i)}.attn.Wo.weight`, 8, 8),
  tensor(`layers.${String(i)}.mlp_norm.weight`, 8),
  tensor(`layers.${String(i)}.mlp.Wi.weight`, 12, 8),
  tensor(`layers.${String(i)}.mlp.Wo.weight`, 8, 6),
];
/** As gte-modernbert-base has them. */
const stored = [
  tensor('embeddings.tok_embeddings.weight', 10, 8),
  tensor('embeddings.norm.weight', 8),
  ...layer(0),
  ...layer(1),
  tensor('final_norm.weight', 8),
];

test('tensors of ModernBERT become those that the engine has, with a head around them and without', () => {
  const bare = inEngineForm(shape, stored);
  checkTensors(shape, bare);
  const wrapped = stored.map((each) => ({ ...each, name: `model.${each.name}` }));
  expect(inEngineForm(shape, wrapped)).toEqual(bare);
});

test('each matrix begins where the ones before it end', () => {
  const placed = inEngineForm(shape, stored).filter(({ name }) => /[qkv]_proj|gate_proj|up_proj/.test(name));
  expect(placed.slice(0, 5)).toMatchObject([
    { name: 'model.layers.0.self_attn.q_proj.weight', shape: [8, 8], offset: 100, bytes: 128 },
    { name: 'model.layers.0.self_attn.k_proj.weight', shape: [8, 8], offset: 228, bytes: 128 },
    { name: 'model.layers.0.self_attn.v_proj.weight', shape: [8, 8], offset: 356, bytes: 128 },
    { name: 'model.layers.0.mlp.gate_proj.weight', shape: [6, 8], offset: 100, bytes: 96 },
    { name: 'model.layers.0.mlp.up_proj.weight', shape: [6, 8], offset: 196, bytes: 96 },
  ]);
});

test.each([
  [
    'one is missing',
    stored.filter(({ name }) => !name.includes('1.attn.Wqkv')),
    'no tensor model.layers.1.attn.Wqkv.weight',
  ],
  [
    'one has other sides',
    stored.map((each) => (each.name === 'layers.0.mlp.Wi.weight' ? tensor(each.name, 14, 8) : each)),
    'model.layers.0.mlp.Wi.weight has shape [14, 8] where config.json implies [12, 8]',
  ],
  [
    'rows do not divide',
    stored.map((each) => (each.name === 'layers.0.attn.Wqkv.weight' ? tensor(each.name, 25, 8) : each)),
    'layers.0.attn.Wqkv.weight has shape [25, 8]; its rows are those of 3 matrices of one size',
  ],
  [
    'one is quantized',
    stored.map((each) => (each.name.endsWith('Wi.weight') ? { ...each, dtype: 'F8_E4M3' } : each)),
    'layers.0.mlp.Wi.weight has type F8_E4M3; matrices that are stored as one are read in F32, BF16, F16',
  ],
])('refused by the stored name where %s', (_, tensors, problem) => {
  const failure = thrownBy(FailureError, () => checkTensors(shape, inEngineForm(shape, tensors)));
  expect(failure.message).toContain(problem);
});
