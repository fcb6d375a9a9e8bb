// What judges texts: tokens that a checkpoint's config.json or the configuration names, as its vocabulary has them, or the
// checkpoint's own head.

import {
  labelsOf,
  type GgufHeader,
  type SentencePooling,
  type SentenceSettings,
} from '@llmservice/checkpoint';
import {
  openCheckpoint,
  readClassifierHead,
  readDenseLayer,
  readLocalModules,
  type DenseLayer,
} from '@llmservice/checkpoint/local';
import { FailureError } from '@llmservice/crds';
import { widthBehind } from '../request/prepare/dense-layers.js';
import type { HeadClassifier, TokenClassifier } from '../request/prepare/classifier.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { readSmallJson } from './read-small-json.js';

/** vLLM's key of config.json. */
const key = 'classifier_from_token';

/**
 * Null: the checkpoint names none.
 * @param folder where config.json may lie
 * @param gguf of the GGUF file that the checkpoint is; null for safetensors
 * @throws FailureError CheckpointCorrupt
 */
export async function readClassifierTokens(
  folder: string,
  gguf: GgufHeader | null,
): Promise<readonly string[] | null> {
  const named = gguf === null ? (await readSmallJson(folder, 'config.json'))?.[key] : null;
  if (named === null || named === undefined) return null;
  const isList = Array.isArray(named) && named.every((token) => typeof token === 'string');
  if (isList && named.length >= 2 && new Set(named).size === named.length) return named;
  const found = JSON.stringify(named).slice(0, 100);
  throw new FailureError(
    'CheckpointCorrupt',
    `config.json: ${key} is not a list of two or more tokens: ${found}`,
    {
      file: 'config.json',
    },
  );
}

/** @throws FailureError InvalidEngineConfig: the vocabulary lacks one of the tokens */
export function classifierOf(
  labels: readonly string[],
  tokenizer: Pick<Tokenizer, 'tokenId'>,
  vocabSize: number,
): TokenClassifier {
  const tokens = labels.map((label) => {
    const id = tokenizer.tokenId(label);
    if (id !== null && id < vocabSize) return id;
    const message =
      `engine.classifierFromToken (${key} of config.json) names ${JSON.stringify(label)}, which is no token of the ` +
      'vocabulary: name each token as the tokenizer spells it';
    throw new FailureError('InvalidEngineConfig', message);
  });
  return { kind: 'tokens', names: labels, activation: 'softmax', tokens };
}

/** What a checkpoint has behind its layers. */
export interface Heads {
  readonly generates: boolean;
  /** Null: none that classifies. */
  readonly classifier: HeadClassifier | null;
  /** Of its embeddings; null: it does not say. */
  readonly pooling: SentencePooling | null;
  /** What its embeddings go through behind the pooling. */
  readonly projection: readonly DenseLayer[];
  readonly embeddingWidth: number;
  /** Numbers of values that embeddings may be cut to; null: it does not say. */
  readonly matryoshka: readonly number[] | null;
  readonly sentences: SentenceSettings;
}

/**
 * Weights are read.
 * @param model a folder, or a .gguf file
 * @throws FailureError of the checkpoint parsers
 */
export async function readHeads(model: string): Promise<Heads> {
  const checkpoint = await openCheckpoint(model);
  const { dir } = checkpoint;
  const { labels, generates, hidden, bert } = checkpoint.shape;
  const { pooling, dense, settings } = await readLocalModules(dir, hidden);
  const projection: DenseLayer[] = [];
  // One after the other: each holds what it reads.
  for (const module of dense) projection.push(await readDenseLayer(dir, module));
  const embeddingWidth = widthBehind(projection, hidden);
  const config = (await readSmallJson(dir, 'config.json')) ?? {};
  const embeddings = {
    ...{ pooling, projection },
    embeddingWidth,
    matryoshka: matryoshkaOf(config, embeddingWidth),
    sentences: settings,
  };
  if (labels === 0) return { generates, classifier: null, ...embeddings };
  const layers = await readClassifierHead(checkpoint);
  const ofHead = bert === null ? 'last' : 'cls';
  const classifier = { kind: 'head', ...labelsOf(config, labels), layers, pooling: ofHead } as const;
  return { generates, classifier, ...embeddings };
}

/** vLLM's key of config.json; what is no list of numbers says nothing, and of none above the width there are so many values. */
export function matryoshkaOf(
  { matryoshka_dimensions: named }: Readonly<Record<string, unknown>>,
  width: number,
): readonly number[] | null {
  const isList = Array.isArray(named) && named.every((each) => Number.isInteger(each) && each > 0);
  return isList && named.length > 0 ? (named as number[]).filter((each) => each <= width) : null;
}
