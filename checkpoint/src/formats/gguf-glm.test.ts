import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { parseGgufHeader } from './gguf-header.js';
import { ggufFile, llamaGguf, type GgufFixture } from './gguf.fixture.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

const own = Object.entries(llamaGguf().keys).map(([key, value]) => [
  key.replace(/^llama\./, 'glm4moe.'),
  value,
]);
const glm = {
  ...(Object.fromEntries(own) as GgufFixture['keys']),
  ...{ 'general.architecture': 'glm4moe', 'glm4moe.block_count': 2, 'glm4moe.nextn_predict_layers': 1 },
  ...{ 'glm4moe.expert_count': 8, 'glm4moe.expert_used_count': 2, 'glm4moe.expert_shared_count': 1 },
  ...{ 'glm4moe.expert_feed_forward_length': 48, 'glm4moe.leading_dense_block_count': 0 },
  ...{ 'glm4moe.expert_gating_func': 2, 'glm4moe.expert_weights_scale': 2.5 },
  'glm4moe.rope.dimension_count': 4,
};

function checkpointOf(keys: GgufFixture['keys']) {
  const tensors = {
    'blk.0.attn_q_norm.weight': { type: 0, shape: [8], bytes: 32 },
    'blk.0.exp_probs_b.bias': { type: 0, shape: [8], bytes: 32 },
    'blk.1.nextn.eh_proj.weight': { type: 0, shape: [32, 64], bytes: 8192 },
  };
  const bytes = ggufFile(llamaGguf({ keys: { ...glm, ...keys }, tensors }));
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: false });
  if (header === null) throw new Error('the whole file is there');
  return readGgufCheckpoint(header);
}

test('a GGUF file of GLM scores experts by sigmoids, and loses the layer that drafts', () => {
  const { shape, tensors } = checkpointOf({});
  expect(shape).toMatchObject({
    ...{ architecture: 'glm4_moe', qkNorm: true, qkvBias: false, rotaryDim: 4, layerKinds: ['full'] },
    feedForward: ['moe'],
    moe: { experts: 8, topK: 2, ffn: 48, sharedFfn: 48, sharedGate: false, sigmoid: { scale: 2.5 } },
  });
  const names = tensors.map(({ name }) => name);
  expect(names).toContain('model.layers.0.mlp.gate.e_score_correction_bias');
  expect(names.some((name) => name.includes('layers.1.'))).toBe(false);
});

test.each([
  ['glm4moe.expert_gating_func', 1, 'expert_gating_func is not sigmoid'],
  ['glm4moe.expert_shared_count', 'x', 'glm4moe.expert_shared_count is not a positive integer'],
])('%s of %s is refused', (key, value, message) => {
  expect(thrownBy(FailureError, () => checkpointOf({ [key]: value })).message).toContain(message);
});
