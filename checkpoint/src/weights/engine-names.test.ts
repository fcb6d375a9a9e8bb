import { expect, test } from '@jest/globals';
import { mixtralConfig } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { inEngineNames } from './engine-names.js';

const named = (...names: readonly string[]): { name: string }[] => names.map((name) => ({ name }));
const at = 'model.layers.3';

test('tensors of Mixtral get the names that experts of other releases have', () => {
  const moe = `${at}.block_sparse_moe`;
  const stored = [
    `${at}.self_attn.q_proj.weight`,
    `${moe}.gate.weight`,
    `${moe}.experts.11.w1.weight`,
    `${moe}.experts.11.w2.weight_scale`,
    `${moe}.experts.11.w3.input_scale`,
  ];
  expect(inEngineNames(parseCheckpointConfig(mixtralConfig), named(...stored))).toEqual(
    named(
      `${at}.self_attn.q_proj.weight`,
      `${at}.mlp.gate.weight`,
      `${at}.mlp.experts.11.gate_proj.weight`,
      `${at}.mlp.experts.11.down_proj.weight_scale`,
      `${at}.mlp.experts.11.up_proj.input_scale`,
    ),
  );
});

test('tensors of other architectures keep their names', () => {
  const stored = named(`${at}.mlp.gate_proj.weight`);
  expect(inEngineNames({ architecture: 'llama' }, stored)).toBe(stored);
});
