import { expect, test } from '@jest/globals';
import { qwen36Config } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { adapterBytes, adapterWorkspaceBytes, noAdapters } from './adapter-room.js';

const onCpu = { dtype: 'bfloat16', accelerator: 'cpu' } as const;
const onGpu = { dtype: 'bfloat16', accelerator: 'cuda' } as const;

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
  expect(adapterBytes(dense, tensor, onCpu, { max: 3, maxRank: 16 })).toBe(bytes);
  expect(adapterBytes(dense, tensor, { ...onCpu, dtype: 'float32' }, { max: 3, maxRank: 16 })).toBe(
    2 * bytes,
  );
});

test('B takes whole groups of lanes', () => {
  const narrow = parseCheckpointConfig({
    ...{ model_type: 'llama', num_hidden_layers: 1, hidden_size: 32, intermediate_size: 40, vocab_size: 320 },
    ...{ num_attention_heads: 2, num_key_value_heads: 2, head_dim: 16, max_position_embeddings: 512 },
  });
  // Half of 40 outputs of gate and up take the place of 32; of down there is the half of 40 inputs.
  const values = 16 * (6 * 32 - 16 + 20) + 16 * (3 * 16 + 2 * 32 + 2 * 32);
  expect(adapterBytes(narrow, 2, onCpu, { max: 1, maxRank: 16 })).toBe(2 * values);
});

test('A takes whole groups of lanes, and layers with linear attention have a feed-forward alone', () => {
  const bytes = (maxRank: number): number => adapterBytes(hybrid, 1, onCpu, { max: 1, maxRank });
  const a = 64 * (2 * 5120 + 17408) + 16 * (3 * 5120 + 6144);
  const b = 64 * (2 * 17408 + 5120) + 16 * (2 * 6144 + 2 * 1024 + 5120);
  expect(bytes(1)).toBe(2 * (16 * a + b));
  expect(bytes(17)).toBe(2 * (32 * a + 17 * b));
  expect(adapterBytes(hybrid, 1, onCpu, { max: 0, maxRank: 16 })).toBe(0);
});

test('a GPU also lists where pairs lie, and keeps what lies between both products', () => {
  const room = { max: 3, maxRank: 16 };
  const more = adapterBytes(dense, 1, onGpu, room) - adapterBytes(dense, 1, onCpu, room);
  expect(more).toBe(3 * 2 * 4 * 3 * 64);
  expect(adapterWorkspaceBytes(room, 1000)).toBe(1000 * (3 * 128 * 4 + 32));
  expect(adapterWorkspaceBytes({ max: 1, maxRank: 129 }, 1000)).toBe(1000 * (3 * 256 * 4 + 32));
  expect(adapterWorkspaceBytes(noAdapters, 1000)).toBe(0);
});
