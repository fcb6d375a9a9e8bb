import { expect, test } from '@jest/globals';
import { gemma4MoeConfig, glm4MoeConfig, llamaConfig, mixtralConfig } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { asStored, inEngineNames, storedName } from './engine-names.js';

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

test('the shared experts of GLM get the name of that of other releases', () => {
  const stored = named(`${at}.mlp.shared_experts.up_proj.weight`, `${at}.mlp.experts.1.up_proj.weight`);
  expect(inEngineNames(parseCheckpointConfig(glm4MoeConfig), stored)).toEqual(
    named(`${at}.mlp.shared_expert.up_proj.weight`, `${at}.mlp.experts.1.up_proj.weight`),
  );
});

test('the dense layer beside the experts of Gemma 4 gets the name of the expert that every row runs', () => {
  const names = ['mlp.up_proj.weight', 'experts.gate_up_proj', 'router.proj.weight', 'router.scale'];
  const stored = named(...names.map((name) => `${at}.${name}`));
  const own = [
    'mlp.shared_expert.up_proj.weight',
    'mlp.experts.gate_up_proj',
    'mlp.gate.weight',
    'router.scale',
  ];
  const shape = parseCheckpointConfig(gemma4MoeConfig);
  expect(inEngineNames(shape, stored)).toEqual(named(...own.map((name) => `${at}.${name}`)));
  expect(own.map((name) => storedName(shape, `${at}.${name}`))).toEqual(stored.map(({ name }) => name));
});

test('tensors of other architectures keep their names', () => {
  const stored = named(`${at}.mlp.gate_proj.weight`);
  expect(inEngineNames({ architecture: 'llama' }, stored)).toBe(stored);
});

test('what was saved without its head, as Qwen3-Embedding is, gets the names of what was saved with it', () => {
  const stored = named(
    'embed_tokens.weight',
    'layers.0.mlp.up_proj.weight',
    'norm.weight',
    'mtp.norm.weight',
  );
  expect(inEngineNames({ architecture: 'qwen3' }, stored)).toEqual(
    named(
      'model.embed_tokens.weight',
      'model.layers.0.mlp.up_proj.weight',
      'model.norm.weight',
      'mtp.norm.weight',
    ),
  );
});

test.each([
  ['a head of its own', false, ['embed_tokens.weight', 'lm_head.weight'], true],
  ['the embedding as its head', true, ['embed_tokens.weight'], true],
  ['neither, where it was saved without', false, ['embed_tokens.weight'], false],
  // What is missing of a whole release is reported when its tensors are checked.
  ['neither, where it was saved whole', false, ['model.embed_tokens.weight'], true],
])('%s: tied %s, stored %j, generates %s', (_, tied, stored, generates) => {
  const shape = parseCheckpointConfig({ ...llamaConfig, tie_word_embeddings: tied });
  expect(asStored(shape, named(...stored))).toEqual({
    ...shape,
    ...(generates ? {} : { tiedEmbeddings: true, generates: false }),
  });
});
