import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { parseCheckpointConfig } from '../config/read-config.js';
import type { ModelShape } from '../config/model-shape.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { eagle3Tensors } from './expected-tensors.js';
import { readEagle3Head } from './eagle3-head.js';
import { checkSpeculative, misplacedHead } from './speculation.js';
import { wholeTrunk } from './whole-tensors.fixture.js';
import { weighCheckpoint } from './weigh-checkpoint.js';

const uri = 's3://models/drafter/';

/** Sizes of Llama 3.1 8B and of the first draft model for it. */
const llama = {
  model_type: 'llama',
  hidden_size: 4096,
  intermediate_size: 14_336,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  num_hidden_layers: 32,
  vocab_size: 128_256,
  rms_norm_eps: 1e-5,
  max_position_embeddings: 131_072,
};
const trunk = parseCheckpointConfig(llama);
const older = {
  ...llama,
  architectures: ['LlamaForCausalLMEagle3'],
  num_hidden_layers: 1,
  draft_vocab_size: 32_000,
  max_position_embeddings: 2048,
};
const speculators = {
  speculators_model_type: 'eagle3',
  draft_vocab_size: 32_000,
  norm_before_residual: true,
  eagle_aux_hidden_state_layer_ids: [2, 16, 29],
  transformer_layer_config: { ...older, architectures: undefined, draft_vocab_size: undefined },
};

/** Under the names that releases have. */
function stored(at: 'midlayer' | 'layers.0', vocab = 32_000): TensorEntry[] {
  const shape: ModelShape = { ...trunk, layerKinds: ['full'] };
  const weights = Array.from(
    eagle3Tensors(
      shape,
      { vocab, layers: [], normBeforeResidual: false, normBeforeFc: false, normOutput: false },
      new Map(),
    ),
    ({ name, sides }) => ({
      name: name.replace('eagle3.layers.0', at).replace('eagle3.fusion', 'fc').replace('eagle3.', ''),
      dtype: 'BF16',
      shape: sides,
      bytes: sides.reduce((product, side) => product * side, 2),
    }),
  );
  return [
    ...weights,
    { name: 'd2t', dtype: 'I64', shape: [vocab], bytes: 8 * vocab },
    { name: 't2d', dtype: 'BOOL', shape: [trunk.vocab], bytes: trunk.vocab },
  ];
}

const without = (name: string): TensorEntry[] => stored('midlayer').filter((tensor) => tensor.name !== name);
const withShape = (name: string, shape: number[]): TensorEntry[] =>
  stored('midlayer').map((tensor) => (tensor.name === name ? { ...tensor, shape } : tensor));

describe('the config of a draft model', () => {
  test.each([
    ['of the older form', older, stored('midlayer'), { layers: [2, 16, 29], normBeforeResidual: false }],
    [
      'of the older form, with layers by what they give',
      { ...older, eagle_config: { eagle_aux_hidden_state_layer_ids: [30, 1, 15] } },
      stored('midlayer'),
      { layers: [2, 16, 31], normBeforeResidual: false },
    ],
    ['of speculators', speculators, stored('layers.0'), { layers: [2, 16, 29], normBeforeResidual: true }],
    [
      'without a vocabulary of its own',
      { ...older, draft_vocab_size: undefined },
      stored('midlayer', trunk.vocab).filter(({ name }) => name !== 'd2t'),
      { vocab: trunk.vocab, layers: [2, 16, 29] },
    ],
  ])('%s is read', (_, config, tensors, wanted) => {
    const head = readEagle3Head(uri, config, tensors, trunk);
    expect(head.eagle3).toMatchObject({ vocab: 32_000, ...wanted });
    expect(head.shape).toMatchObject({ hidden: 4096, kvHeads: 8, vocab: 128_256, tiedEmbeddings: false });
    expect(head.tensors.map(({ name }) => name)).toContain('eagle3.layers.0.self_attn.q_proj.weight');
    expect(head.tensors.map(({ name }) => name)).not.toContain('t2d');
  });

  test.each([
    [
      'another kind of speculator',
      { ...speculators, speculators_model_type: 'dflash' },
      'is "dflash", and only eagle3',
    ],
    ['a model', llama, 'it is of no EAGLE-3 draft model'],
    ['two layers', { ...older, num_hidden_layers: 2 }, 'num_hidden_layers is 2 where 1 is read'],
    ['experts', { ...older, model_type: 'qwen3_moe' }, 'is "qwen3_moe" where llama or qwen3 is read'],
    ['another vocabulary', { ...older, vocab_size: 151_936 }, 'vocab_size 151936 where the model has 128256'],
    [
      'another width',
      { ...older, target_hidden_size: 5120 },
      'target_hidden_size 5120 where the model has 4096',
    ],
    [
      'two hidden states',
      { ...speculators, eagle_aux_hidden_state_layer_ids: [2, 2, 29] },
      'reads layers 2, 2, 29',
    ],
    [
      'the last hidden state alone',
      { ...older, eagle_config: { use_aux_hidden_state: false } },
      'use_aux_hidden_state',
    ],
    [
      'more tokens than the model',
      { ...older, draft_vocab_size: 128_257 },
      'draft_vocab_size 128257 is more than',
    ],
    ['no layer', { ...speculators, transformer_layer_config: undefined }, 'no transformer_layer_config'],
  ])('of %s is refused', (_, config, message) => {
    const read = (): unknown => readEagle3Head(uri, config, stored('midlayer'), trunk);
    expect(read).toThrow(FailureError);
    expect(read).toThrow(`engine.speculative.uri ${uri} is no draft model for this model`);
    expect(read).toThrow(message);
  });

  test('of a model with scaled embeddings is refused', () => {
    const read = (): unknown =>
      readEagle3Head(uri, older, stored('midlayer'), { ...trunk, embeddingScale: 64 });
    expect(read).toThrow('llama scales its embeddings');
  });
});

test.each([
  ['no fc', without('fc.weight'), 'no tensor fc.weight of the draft model'],
  ['no mapping', without('d2t'), 'no tensor d2t of the draft model, which maps its 32000 tokens'],
  [
    'a mapping of other sides',
    withShape('d2t', [31_000]),
    'd2t of the draft model has type I64 and shape [31000]',
  ],
  [
    'fc over one hidden state',
    withShape('fc.weight', [4096, 4096]),
    'fc.weight of the draft model has shape [4096, 4096] where config.json implies [4096, 12288]',
  ],
  [
    'queries that read no embedding',
    withShape('midlayer.self_attn.q_proj.weight', [4096, 4096]),
    'midlayer.self_attn.q_proj.weight of the draft model has shape [4096, 4096] where config.json implies [4096, 8192]',
  ],
  [
    'a head of another vocabulary',
    withShape('lm_head.weight', [16_000, 4096]),
    'lm_head.weight of the draft model has shape [16000, 4096] where config.json implies [32000, 4096]',
  ],
  [
    'a tensor that is not known',
    [...stored('midlayer'), { name: 'input_norm.weight', dtype: 'BF16', shape: [12_288], bytes: 24_576 }],
    'tensors that no EAGLE-3 draft model here has: input_norm.weight',
  ],
])('a draft model with %s is refused', (_, tensors, message) => {
  expect(() => readEagle3Head(uri, older, tensors, trunk)).toThrow(message);
});

test('a draft model is counted with the model, on GPUs too unless they lack kernels for it', () => {
  const options = {
    dtype: 'auto',
    quantization: 'none',
    speculative: { method: 'eagle3', tokens: 3 },
  } as const;
  const model = { shape: trunk, tensors: wholeTrunk(trunk) };
  const head = readEagle3Head(uri, older, stored('midlayer'), trunk);
  for (const accelerator of ['cpu', 'cuda', 'hip'] as const) {
    const { drafter } = weighCheckpoint(model, head, { ...options, accelerator });
    expect(drafter).toMatchObject({ eagle3: { vocab: 32_000 } });
  }
  const odd = { ...head, shape: { ...head.shape, headDim: 120 } };
  expect(() => weighCheckpoint(model, odd, { ...options, accelerator: 'cpu' })).not.toThrow();
  expect(() => weighCheckpoint(model, odd, { ...options, accelerator: 'cuda' })).toThrow(
    'the draft model of engine.speculative.uri: llama runs on CPUs alone (accelerator.resourceName none): there are no GPU ' +
      'kernels for heads that are no multiple of 16 features, or engine.speculative.method ngram or none',
  );
});

test('the method without a draft model is refused, and a draft model without the method', () => {
  expect(() => checkSpeculative(wholeTrunk(trunk), false, { method: 'eagle3', tokens: 3 })).toThrow(
    'names no draft model',
  );
  expect(misplacedHead({ method: 'eagle3' })).toContain('is missing');
  expect(misplacedHead({ method: 'eagle3', uri })).toBeNull();
  expect(misplacedHead({ method: 'ngram', uri })).toContain('mtp, eagle3 and draft_model');
});
