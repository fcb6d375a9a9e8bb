import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '../config/read-config.js';
import { planMemory } from '../memory/memory-plan.js';
import { readDraftModel } from './draft-model.js';
import { checkSpeculative, misplacedHead } from './speculation.js';
import { checkTensorParallel } from './tensor-parallel.js';
import { weighCheckpoint } from './weigh-checkpoint.js';
import { wholeTrunk } from './whole-tensors.fixture.js';

const uri = 's3://models/small/';
const large = {
  model_type: 'llama',
  hidden_size: 1024,
  intermediate_size: 2048,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  num_hidden_layers: 8,
  vocab_size: 4096,
  max_position_embeddings: 8192,
};
const small = {
  ...large,
  ...{ hidden_size: 256, intermediate_size: 512, num_attention_heads: 4, num_key_value_heads: 2 },
  num_hidden_layers: 2,
};
const trunk = parseCheckpointConfig(large);
const speculative = { method: 'draft_model', tokens: 3 } as const;
const options = { dtype: 'auto', quantization: 'none', accelerator: 'cpu', speculative } as const;

const read = (changes: object = {}) => {
  const config = { ...small, ...changes };
  const tensors = wholeTrunk(parseCheckpointConfig({ ...config, model_type: 'llama' }));
  return readDraftModel(uri, JSON.stringify(config), tensors, trunk);
};
const model = { shape: trunk, tensors: wholeTrunk(trunk) };

describe('a draft model', () => {
  test('is counted with the model: weights, KV of all its layers, and a workspace with a row more per sequence', () => {
    const sizes = { blockSize: 16, maxNumSeqs: 4, maxModelLen: 1024, maxNumBatchedTokens: 256 } as const;
    const plan = (method: 'none' | 'draft_model') => {
      const how = { ...options, speculative: { method, tokens: 3 } } as const;
      return planMemory({
        ...{ ...sizes, ...how, tensor: 1, shape: trunk, kvCacheDtype: 'auto', prefixCaching: true },
        weights: weighCheckpoint(model, method === 'none' ? null : read(), how),
        memoryBytes: 2 ** 33,
        memoryUtilizationPercent: 90,
      });
    };
    const [alone, both] = [plan('none'), plan('draft_model')];
    // K and V of 2 heads of 64 in bfloat16.
    expect(both.kvBytesPerToken - alone.kvBytesPerToken).toBe(2 * 2 * 2 * 64 * 2);
    expect(both.weightBytes).toBeGreaterThan(alone.weightBytes);
    // Of each row: four hidden states, gate and up, what goes into down, and angles; of 32 rows, logits.
    const rows = Math.ceil((sizes.maxNumBatchedTokens + sizes.maxNumSeqs) / 16) * 16;
    const ofDraftModel =
      rows * (4 * 256 + 2 * 512 + 512 + 64) * 4 + Math.ceil(rows / 16) * 64 + 32 * 4096 * 4;
    expect(both.workspaceBytes - alone.workspaceBytes).toBe(ofDraftModel);
  });

  test.each([
    ['of another vocabulary', { vocab_size: 4160 }, 'vocab_size 4160 where the model has 4096'],
    ['of another type', { model_type: 'gpt2' }, `the draft model of engine.speculative.uri ${uri}: `],
  ])('%s is refused by name', (_, changes, message) => {
    expect(() => read(changes)).toThrow(message);
  });

  test('without a tensor is refused by its name', () => {
    const tensors = wholeTrunk(parseCheckpointConfig(small)).filter(({ name }) => !name.includes('up_proj'));
    expect(() => readDraftModel(uri, JSON.stringify(small), tensors, trunk)).toThrow(
      `the draft model of engine.speculative.uri ${uri}: the checkpoint has no tensor model.layers.0.mlp.up_proj.weight`,
    );
  });

  test('divides among ranks with the model, or is named where it does not', () => {
    const weights = weighCheckpoint(model, read(), options);
    expect(() => checkTensorParallel(trunk, weights, 2)).not.toThrow();
    expect(() => checkTensorParallel(trunk, weights, 4)).toThrow(
      'the draft model has 4 heads, 2 KV heads, FFN 512); values that work: 1, 2',
    );
  });

  test('runs on GPUs', () => {
    const onGpu = { ...options, accelerator: 'cuda' } as const;
    expect(weighCheckpoint(model, read(), onGpu).drafter).toMatchObject({ eagle3: null });
  });

  test('is to be named with the method', () => {
    expect(() => checkSpeculative(model.tensors, false, speculative)).toThrow('names no draft model');
    expect(misplacedHead({ method: 'draft_model' })).toContain('is missing');
    expect(misplacedHead({ method: 'draft_model', uri })).toBeNull();
  });
});
