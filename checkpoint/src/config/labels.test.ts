import { expect, test } from '@jest/globals';
import { gemma2Config } from './config.fixture.js';
import { labelsOf } from './labels.js';
import { parseCheckpointConfig } from './read-config.js';

const classifier = { ...gemma2Config, architectures: ['Gemma2ForSequenceClassification'] };
const three = { id2label: { 0: 'safe', 1: 'unsafe', 2: 'unclear' } };

test.each([
  ['a causal model', gemma2Config, 0],
  ["two, transformers' default", classifier, 2],
  ['those that have names', { ...classifier, ...three }, 3],
  ['as many as it says', { ...classifier, num_labels: 1 }, 1],
  [
    "a causal model that vLLM's overrides make a classifier",
    { ...classifier, classifier_from_token: ['no', 'yes'] },
    0,
  ],
])('labels of %s', (_, config, labels) => {
  expect(parseCheckpointConfig(config)).toMatchObject({ labels });
});

test('a model that classifies has no head that generates', () => {
  const config = { ...classifier, tie_word_embeddings: false };
  expect(parseCheckpointConfig(config).tiedEmbeddings).toBe(true);
});

test('what is no number of labels is refused', () => {
  expect(() => parseCheckpointConfig({ ...classifier, num_labels: 0 })).toThrow(
    /num_labels must be a positive/,
  );
});

test.each([
  [{}, 1, { names: ['LABEL_0'], activation: 'sigmoid' }],
  [three, 3, { names: ['safe', 'unsafe', 'unclear'], activation: 'softmax' }],
  [{ ...three, problem_type: 'multi_label_classification' }, 3, { activation: 'sigmoid' }],
  [{ problem_type: 'single_label_classification' }, 2, { activation: 'softmax' }],
  [{ problem_type: 'regression' }, 1, { activation: 'none' }],
])('of %j, %i have names, and probabilities or none', (config, count, labels) => {
  expect(labelsOf(config, count)).toMatchObject(labels);
});
