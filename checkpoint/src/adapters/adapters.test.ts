import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { qwen36Config } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import type { PlacedTensor } from '../formats/safetensors-header.js';
import { parseAdapterConfig } from './adapter-config.js';
import { planAdapter } from './adapter-tensors.js';
import { judgeAdapter } from './judge-adapter.js';

const { text_config: text, ...outer } = qwen36Config;
const hybrid = parseCheckpointConfig({ ...outer, text_config: { ...text, num_hidden_layers: 4 } });

const plain = {
  peft_type: 'LORA',
  r: 4,
  lora_alpha: 8,
  target_modules: ['q_proj', 'mlp.down_proj'],
  bias: 'none',
};
const configOf = (changes: object = {}): ReturnType<typeof parseAdapterConfig> =>
  parseAdapterConfig(JSON.stringify({ ...plain, ...changes }));

/** In layer 3, which has attention. */
const at = 'base_model.model.model.language_model.layers.3';
const tensor = (name: string, shape: number[], dtype = 'BF16'): PlacedTensor => ({
  ...{ name, dtype, shape, offset: 64, bytes: 2 * shape.reduce((product, side) => product * side, 1) },
});
const pairAt = (module: string, inputs: number, outputs: number, rank = 4): PlacedTensor[] => [
  tensor(`${module}.lora_A.weight`, [rank, inputs]),
  tensor(`${module}.lora_B.weight`, [outputs, rank]),
];
// q_proj emits a gate beside each query.
const queries = pairAt(`${at}.self_attn.q_proj`, 5120, 2 * 24 * 256);
const down = pairAt(`${at}.mlp.down_proj`, 17408, 5120);

function refusal(work: () => unknown): string {
  const { failure } = thrownBy(FailureError, work);
  expect(failure.reason).toBe('InvalidEngineConfig');
  return failure.message;
}

test('pairs have the rank and scale of the config, in the order of their layers', () => {
  const first = pairAt('base_model.model.model.layers.0.mlp.down_proj', 17408, 5120);
  expect(planAdapter(configOf(), [...down, ...queries, ...first], hybrid)).toMatchObject([
    { layer: 0, projection: 'down_proj', rank: 4, scale: 2, a: { dtype: 'BF16', offset: 64 } },
    { layer: 3, projection: 'down_proj' },
    { layer: 3, projection: 'q_proj', rank: 4, scale: 2 },
  ]);
});

test.each([
  [{ use_rslora: true }, 4, 4],
  [{ rank_pattern: { down_proj: 2 } }, 2, 4],
  [{ rank_pattern: { 'layers.3.mlp.down_proj': 2 }, alpha_pattern: { down_proj: 3 } }, 2, 1.5],
  [{ rank_pattern: { '^down_proj': 2, proj: 2 } }, 4, 2],
])('%j: rank %d and scale %d of down_proj', (changes, rank, scale) => {
  const pairs = planAdapter(configOf(changes), pairAt(`${at}.mlp.down_proj`, 17408, 5120, rank), hybrid);
  expect(pairs).toMatchObject([{ rank, scale }]);
});

describe('a config is refused by its key', () => {
  test.each([
    [{ r: 257 }, 'r is 257; expected is an integer from 1 to 256'],
    [{ r: undefined }, 'r is none'],
    [{ lora_alpha: 'x' }, 'lora_alpha is "x"'],
    [{ peft_type: 'IA3' }, 'peft_type is "IA3"; expected is "LORA"'],
    [{ bias: 'all' }, 'bias is "all"; expected is "none"'],
    [{ use_dora: true }, 'use_dora is true; expected is false'],
    [{ fan_in_fan_out: true }, 'fan_in_fan_out is true'],
    [{ modules_to_save: ['lm_head'] }, 'modules_to_save is ["lm_head"]; expected is none'],
    [{ target_parameters: ['experts.w'] }, 'target_parameters is'],
    [
      { target_modules: ['embed_tokens', 'q_proj'] },
      'target_modules has ["embed_tokens"]; adapters are taken of q_proj',
    ],
    [{ init_lora_weights: 'pissa_niter_4' }, 'changes the weights of the base'],
    [{ rank_pattern: { '.*(a|b)': 4 } }, 'rank_pattern has the key ".*(a|b)"; expected are names of modules'],
    [{ rank_pattern: { q_proj: 0 } }, 'rank_pattern has 0 for q_proj'],
    [{ alpha_pattern: [1] }, 'alpha_pattern is [1]'],
    [{ use_rslora: 1 }, 'use_rslora is 1'],
  ])('%j', (changes, message) => {
    expect(refusal(() => configOf(changes))).toContain(message);
  });

  test('all violations at once', () => {
    const message = refusal(() => configOf({ r: 0, bias: 'all', use_dora: true }));
    for (const key of ['r is', 'bias is', 'use_dora is']) expect(message).toContain(key);
  });

  test('null and empty values are as none', () => {
    const empty = {
      modules_to_save: null,
      target_parameters: [],
      layer_replication: null,
      megatron_config: {},
    };
    expect(configOf({ ...empty, target_modules: 'all-linear' }).rankOf('x')).toBe(4);
  });
});

describe('tensors are refused by their names', () => {
  test.each<[string, readonly PlacedTensor[], string]>([
    [
      'embeddings',
      [tensor('base_model.model.model.embed_tokens.lora_embedding_A', [4, 8])],
      'embeddings are not adapted',
    ],
    [
      'the head',
      pairAt('base_model.model.lm_head', 5120, 8),
      'lm_head.lora_A.weight: the head is not adapted',
    ],
    ['experts', pairAt(`${at}.mlp.experts.0.down_proj`, 8, 8), 'experts are not adapted'],
    ['shared ones of GLM', pairAt(`${at}.mlp.shared_experts.down_proj`, 8, 8), 'experts are not adapted'],
    ['linear attention', pairAt(`${at}.linear_attn.out_proj`, 8, 8), 'layers with linear attention'],
    ['DoRA', [tensor(`${at}.mlp.down_proj.lora_magnitude_vector`, [8])], 'DoRA is not supported'],
    ['others', [tensor('x', [8])], 'tensor x: expected are base_model.model.'],
    ['no pair', [], 'there is no tensor of a linear layer'],
    ['a part', down.slice(0, 1), 'down_proj: lora_B.weight is missing'],
    ['a layer too many', pairAt('base_model.model.model.layers.4.mlp.down_proj', 17408, 5120), 'in 4 layers'],
    [
      'no attention there',
      pairAt('base_model.model.model.layers.0.self_attn.q_proj', 5120, 12288),
      'no such linear layer',
    ],
    [
      'other widths',
      pairAt(`${at}.mlp.down_proj`, 17408, 5121),
      'has shape [5121, 4]; expected is [5120, 4]',
    ],
    [
      'another rank',
      pairAt(`${at}.mlp.down_proj`, 17408, 5120, 5),
      'has shape [5, 17408]; expected is [4, 17408]',
    ],
    [
      'a quantized one',
      [tensor(`${at}.mlp.down_proj.lora_A.weight`, [4, 17408], 'I8'), down[1]!],
      'has dtype I8',
    ],
    [
      'one under two names',
      [...down, ...pairAt('base_model.model.model.layers.3.mlp.down_proj', 17408, 5120)],
      'two names',
    ],
  ])('%s', (_, tensors, message) => {
    expect(refusal(() => planAdapter(configOf(), tensors, hybrid))).toContain(message);
  });

  test('five of many', () => {
    const others = Array.from({ length: 9 }, (_, i) => tensor(`x${String(i)}`, [8]));
    expect(refusal(() => planAdapter(configOf(), others, hybrid))).toMatch(/x4.*and 4 more$/);
  });
});

test('a larger rank than there is room for is refused by both numbers', () => {
  const judge = (maxRank: number): unknown => judgeAdapter(JSON.stringify(plain), queries, hybrid, maxRank);
  expect(judge(4)).toMatchObject([{ rank: 4 }]);
  const { failure } = thrownBy(FailureError, () => judge(3));
  expect(failure).toMatchObject({ reason: 'InvalidEngineConfig', detail: { rank: 4, maxRank: 3 } });
  expect(failure.message).toContain('engine.maxAdapterRank');
});
