// What judges texts: tokens that a checkpoint's config.json or the configuration names, as its vocabulary has them, or the
// checkpoint's own head.

import { labelsOf, type GgufHeader, type SentencePooling } from '@llmservice/checkpoint';
import { openCheckpoint, readClassifierHead } from '@llmservice/checkpoint/local';
import { FailureError } from '@llmservice/crds';
import type { HeadClassifier, TokenClassifier } from '../request/prepare/classifier.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { readSentencePooling } from './read-sentence-pooling.js';
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
}

/**
 * Weights are read.
 * @param model a folder, or a .gguf file
 * @throws FailureError of the checkpoint parsers
 */
export async function readHeads(model: string): Promise<Heads> {
  const checkpoint = await openCheckpoint(model);
  const { labels, generates, hidden } = checkpoint.shape;
  const pooling = await readSentencePooling(checkpoint.dir, hidden);
  if (labels === 0) return { generates, classifier: null, pooling };
  const config = (await readSmallJson(checkpoint.dir, 'config.json')) ?? {};
  const weights = await readClassifierHead(checkpoint);
  return { generates, pooling, classifier: { kind: 'head', ...labelsOf(config, labels), weights } };
}
