import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { qwen36Config } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { adapterBytes, checkAdapterDevice } from './adapter-room.js';

const dense = parseCheckpointConfig({
  ...{ model_type: 'llama', num_hidden_layers: 2, hidden_size: 64, intermediate_size: 128, vocab_size: 320 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16, max_position_embeddings: 512 },
});
const hybrid = parseCheckpointConfig(qwen36Config);

test.each([
  // A of q, k, v, gate and up, each 64 wide; of o 64, of down 128. B of 64 + 2 · 32 + 2 · 128 and 2 · 64 outputs.
  [1, 2 * 3 * (16 * (5 * 64 + 64 + 128) + 16 * (64 + 2 * 32 + 2 * 128 + 2 * 64)) * 2],
  [2, 2 * 3 * (16 * (5 * 64 + 32 + 64) + 16 * (32 + 2 * 16 + 2 * 64 + 2 * 64)) * 2],
  // A KV head is whole on each of four ranks.
  [4, 2 * 3 * (16 * (5 * 64 + 16 + 32) + 16 * (16 + 2 * 16 + 2 * 32 + 2 * 64)) * 2],
])('%d ranks keep room for three adapters of rank 16', (tensor, bytes) => {
  expect(adapterBytes(dense, tensor, 'bfloat16', { max: 3, maxRank: 16 })).toBe(bytes);
  expect(adapterBytes(dense, tensor, 'float32', { max: 3, maxRank: 16 })).toBe(2 * bytes);
});

test('B takes whole groups of lanes', () => {
  const narrow = parseCheckpointConfig({
    ...{ model_type: 'llama', num_hidden_layers: 1, hidden_size: 32, intermediate_size: 40, vocab_size: 320 },
    ...{ num_attention_heads: 2, num_key_value_heads: 2, head_dim: 16, max_position_embeddings: 512 },
  });
  // Half of 40 outputs of gate and up take the place of 32; of down there is the half of 40 inputs.
  const values = 16 * (6 * 32 - 16 + 20) + 16 * (3 * 16 + 2 * 32 + 2 * 32);
  expect(adapterBytes(narrow, 2, 'bfloat16', { max: 1, maxRank: 16 })).toBe(2 * values);
});

test('A takes whole groups of lanes, and layers with linear attention have a feed-forward alone', () => {
  const bytes = (maxRank: number): number => adapterBytes(hybrid, 1, 'auto', { max: 1, maxRank });
  const a = 64 * (2 * 5120 + 17408) + 16 * (3 * 5120 + 6144);
  const b = 64 * (2 * 17408 + 5120) + 16 * (2 * 6144 + 2 * 1024 + 5120);
  expect(bytes(1)).toBe(2 * (16 * a + b));
  expect(bytes(17)).toBe(2 * (32 * a + 17 * b));
  expect(adapterBytes(hybrid, 1, 'auto', { max: 0, maxRank: 16 })).toBe(0);
});

test('GPUs are refused by what would be removed, and none is needed without adapters', () => {
  checkAdapterDevice({ max: 1, maxRank: 16 }, 'cpu');
  checkAdapterDevice({ max: 0, maxRank: 16 }, 'cuda');
  const { failure } = thrownBy(FailureError, () => checkAdapterDevice({ max: 1, maxRank: 16 }, 'hip'));
  expect(failure.reason).toBe('InvalidEngineConfig');
  expect(failure.message).toContain('LoRA adapters run on CPUs alone (accelerator.resourceName none)');
});
