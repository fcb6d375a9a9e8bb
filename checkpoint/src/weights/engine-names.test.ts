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

const modernBert = { architecture: 'modernbert' };

/** As transformers saves them, with its head for masked language modeling or without. */
test.each([
  ['model.embeddings.tok_embeddings.weight', 'model.embed_tokens.weight'],
  ['model.embeddings.norm.weight', 'model.embed_norm.weight'],
  ['model.final_norm.weight', 'model.norm.weight'],
  [`${at}.attn_norm.weight`, `${at}.input_layernorm.weight`],
  [`${at}.attn.Wo.weight`, `${at}.self_attn.o_proj.weight`],
  [`${at}.attn.Wo.bias`, `${at}.self_attn.o_proj.bias`],
  [`${at}.mlp_norm.weight`, `${at}.post_attention_layernorm.weight`],
  [`${at}.mlp.Wo.weight`, `${at}.mlp.down_proj.weight`],
  [`${at}.mlp.Wo.bias`, `${at}.mlp.down_proj.bias`],
  ['head.norm.weight', 'head.norm.weight'],
  ['head.dense.weight', 'head.dense.weight'],
  ['decoder.bias', 'decoder.bias'],
])('%s of ModernBERT is %s to the engine, and messages have the former', (stored, name) => {
  expect(inEngineNames(modernBert, named(stored))).toEqual(named(name));
  expect(storedName(modernBert, name)).toBe(stored);
});

test.each([
  ['self_attn.q_proj.weight', 'attn.Wqkv.weight'],
  ['self_attn.k_proj.weight', 'attn.Wqkv.weight'],
  ['self_attn.v_proj.bias', 'attn.Wqkv.bias'],
  ['mlp.gate_proj.weight', 'mlp.Wi.weight'],
  ['mlp.up_proj.bias', 'mlp.Wi.bias'],
])('messages call %s of ModernBERT %s, in which it is stored', (name, stored) => {
  expect(storedName(modernBert, `${at}.${name}`)).toBe(`${at}.${stored}`);
});

test('a bare ModernBERT gets the names of what was saved with its head', () => {
  const stored = named('embeddings.tok_embeddings.weight', 'final_norm.weight', 'layers.0.attn_norm.weight');
  expect(inEngineNames(modernBert, stored)).toEqual(
    named('model.embed_tokens.weight', 'model.norm.weight', 'model.layers.0.input_layernorm.weight'),
  );
});

test('a bare Gemma 4 with embeddings of each layer gets the names of what was saved with its head', () => {
  const bare = named(
    'embed_tokens.weight',
    'embed_tokens_per_layer.weight',
    'per_layer_model_projection.weight',
    'per_layer_projection_norm.weight',
    'layers.0.per_layer_input_gate.weight',
  );
  expect(inEngineNames({ architecture: 'gemma4_text' }, bare)).toEqual(
    bare.map(({ name }) => ({ name: `model.${name}` })),
  );
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
