import { expect, test } from '@jest/globals';
import { firstSampling, manifestSampling } from './sampling.js';

test('the manifest’s names are those of requests', () => {
  const plain = {
    temperature: 0.7,
    topP: 0.8,
    topK: 20,
    minP: 0.1,
    presencePenalty: 1.5,
    frequencyPenalty: 0.5,
    repetitionPenalty: 1.1,
  };
  expect(manifestSampling({ plain })).toEqual({
    thinking: {},
    plain: {
      temperature: 0.7,
      top_p: 0.8,
      top_k: 20,
      min_p: 0.1,
      presence_penalty: 1.5,
      frequency_penalty: 0.5,
      repetition_penalty: 1.1,
    },
  });
});

test('the first that says something of a field counts, in each mode for itself', () => {
  const manifest = { thinking: { top_k: 1 }, plain: {} };
  const checkpoint = { thinking: { top_k: 2, top_p: 0.9 }, plain: { top_k: 3 } };
  expect(firstSampling(manifest, checkpoint)).toEqual({
    thinking: { top_k: 1, top_p: 0.9 },
    plain: { top_k: 3 },
  });
});
