// Embeddings that nothing but pooling makes, and a head that changes nothing.

import { noSettings } from '@llmservice/checkpoint';
import type { HeadClassifier } from './classifier.js';
import type { ModelTasks } from './model-tasks.js';

export const plainEmbeddings: Pick<ModelTasks, 'projection' | 'embeddingWidth' | 'matryoshka' | 'sentences'> =
  {
    projection: [],
    embeddingWidth: 2,
    matryoshka: null,
    sentences: noSettings,
  };

/** Of two values, which are the logits. */
export const headClassifier: HeadClassifier = {
  kind: 'head',
  names: ['safe', 'unsafe'],
  activation: 'softmax',
  pooling: 'last',
  layers: [{ weights: Float32Array.of(1, 0, 0, 1), bias: null, inFeatures: 2, activation: 'identity' }],
};
