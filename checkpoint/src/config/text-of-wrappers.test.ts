// Multimodal releases around the text of known architectures: the text is read as that of its own release, and the text of another
// is refused by the field that says so.

import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

/** Of Mistral Small 3.2, and of Qwen3-VL 4B. */
const small = {
  ...{
    model_type: 'mistral',
    hidden_size: 5120,
    intermediate_size: 32768,
    num_hidden_layers: 40,
    head_dim: 128,
  },
  ...{ num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 131072, max_position_embeddings: 131072 },
  ...{ rms_norm_eps: 1e-5, rope_theta: 1e9, sliding_window: null, hidden_act: 'silu' },
};
const vl = {
  ...{ model_type: 'qwen3_vl_text', hidden_size: 2560, intermediate_size: 9728, num_hidden_layers: 36 },
  ...{ num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, vocab_size: 151936, rope_theta: 5e6 },
  ...{ max_position_embeddings: 262144, rms_norm_eps: 1e-6, hidden_act: 'silu', tie_word_embeddings: true },
  rope_scaling: { mrope_interleaved: true, mrope_section: [24, 20, 20], rope_type: 'default' },
};

test.each([
  ['mistral3', 'mistral', small],
  ['qwen3_vl', 'qwen3', vl],
])('the text of %s is that of %s', (wrapper, model_type, text) => {
  const alone = parseCheckpointConfig({ ...text, model_type });
  const vision_config = { model_type: 'tower', hidden_size: 1024 };
  expect(parseCheckpointConfig({ model_type: wrapper, text_config: text, vision_config })).toEqual(alone);
  expect(alone).toMatchObject({
    headDim: 128,
    scaling: { type: 'none' },
    layerKinds: { length: text.num_hidden_layers },
  });
});

test('what other wrappers call their text makes no difference', () => {
  const alone = parseCheckpointConfig({ ...small, model_type: 'llama' });
  const text_config = { ...small, model_type: 'text_of_llama' };
  expect(parseCheckpointConfig({ model_type: 'llama', text_config })).toEqual(alone);
});

test('another text in a known wrapper is refused', () => {
  const text_config = { ...small, model_type: 'ministral3' };
  const read = () => parseCheckpointConfig({ model_type: 'mistral3', text_config });
  const { reason, message } = thrownBy(FailureError, read);
  expect([reason, message]).toEqual([
    'UnsupportedArchitecture',
    expect.stringContaining(
      'text_config.model_type "ministral3" is not supported with model_type mistral3; supported: mistral, mistral3, mistral3_text',
    ),
  ]);
});
