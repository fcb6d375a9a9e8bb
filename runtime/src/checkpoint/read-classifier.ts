// The tokens whose logits judge a text, as a checkpoint's config.json or the configuration names them, and as a vocabulary
// has them.

import type { GgufHeader } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { Classifier } from '../request/prepare/classifier.js';
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
): Classifier {
  const tokens = labels.map((label) => {
    const id = tokenizer.tokenId(label);
    if (id !== null && id < vocabSize) return id;
    const message =
      `engine.classifierFromToken (${key} of config.json) names ${JSON.stringify(label)}, which is no token of the ` +
      'vocabulary: name each token as the tokenizer spells it';
    throw new FailureError('InvalidEngineConfig', message);
  });
  return { labels, tokens };
}
