// What a model can be asked for, by its heads: to generate, to judge texts, to score pairs. Embeddings it always has.

import type { SentencePooling, SentenceSettings } from '@llmservice/checkpoint';
import type { DenseLayer } from '@llmservice/checkpoint/local';
import { ApiError } from '../body/api-error.js';
import { isScorer, type Classifier } from './classifier.js';

export interface ModelTasks {
  /** Whether it has a head that generates. */
  readonly generates: boolean;
  /** What judges texts; null: nothing does. */
  readonly classifier: Classifier | null;
  /** Of embeddings whose request does not say. */
  readonly pooling: SentencePooling;
  /** What embeddings go through behind the pooling. */
  readonly projection: readonly DenseLayer[];
  /** Values of an embedding. */
  readonly embeddingWidth: number;
  /** To which numbers of values one may be cut; null: to any. */
  readonly matryoshka: readonly number[] | null;
  /** What texts to embed begin with, and how long they may be. */
  readonly sentences: SentenceSettings;
  /** Whether it was made to embed, so that the cosine of two embeddings scores their texts. */
  readonly embeds: boolean;
}

/** @throws ApiError task_not_supported */
export function requireGenerator({ generates, classifier }: ModelTasks): void {
  if (generates) return;
  const routes = classifier === null ? '/v1/embeddings' : '/classify or /v1/embeddings';
  throw unsupported(`this model has no head that generates: POST ${routes}`);
}

/** @throws ApiError task_not_supported */
export function requireClassifier({ classifier }: ModelTasks): Classifier {
  if (classifier !== null) return classifier;
  throw unsupported(
    'this model judges no texts: engine.classifierFromToken (--classifier-from-token, CLASSIFIER_FROM_TOKEN) ' +
      'names the tokens of one that does, such as no,yes of Qwen3-Reranker',
  );
}

/** @throws ApiError task_not_supported */
export function requireScorer(model: ModelTasks): Classifier {
  const classifier = requireClassifier(model);
  if (isScorer(classifier)) return classifier;
  const found = `${String(classifier.names.length)} labels, which make no single score`;
  throw unsupported(`this model has ${found}: POST /classify has their probabilities`);
}

const unsupported = (message: string): ApiError => ApiError.of('task_not_supported', message);
