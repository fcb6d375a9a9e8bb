// How an embedder pools, by the file that sentence-transformers keeps beside a checkpoint: 1_Pooling/config.json says which
// hidden states become the embedding. Without it the architecture decides.

import { parseSmallJson } from '../json/small-json.js';
import { poolingFile, pathOf } from './nested-files.js';
import { corruptModule as corrupt, unsupportedModule as unsupported } from './module-failures.js';
import { type ConfigObject, isObject, quote } from './config-fields.js';

/** Of the hidden states of a text: its first token's, their mean, or its last token's. */
export type SentencePooling = 'cls' | 'mean' | 'last';

/** For messages. */
export const poolingPath = pathOf(poolingFile);

/** Flags of the file, and what the newer field `pooling_mode` calls the same; null: the engine has no such pooling. */
const modes: readonly (readonly [flag: string, name: string, pooling: SentencePooling | null])[] = [
  ['pooling_mode_cls_token', 'cls', 'cls'],
  ['pooling_mode_mean_tokens', 'mean', 'mean'],
  ['pooling_mode_lasttoken', 'lasttoken', 'last'],
  ['pooling_mode_max_tokens', 'max', null],
  ['pooling_mode_mean_sqrt_len_tokens', 'mean_sqrt_len_tokens', null],
  ['pooling_mode_weightedmean_tokens', 'weightedmean', null],
];
const known = 'cls, mean and lasttoken';

/**
 * @param hidden width of the model
 * @throws FailureError CheckpointCorrupt, UnsupportedArchitecture
 */
export function readPooling(text: string, hidden: number): SentencePooling {
  const config = parseSmallJson(poolingPath, text);
  if (!isObject(config)) throw corrupt(poolingPath, 'is not a JSON object');
  const width = config['word_embedding_dimension'] ?? config['embedding_dimension'] ?? hidden;
  if (width !== hidden)
    throw corrupt(
      poolingPath,
      `pools embeddings of width ${quote(width)}, but config.json has hidden_size ${String(hidden)}`,
    );
  if (config['include_prompt'] === false)
    throw unsupported(
      poolingPath,
      'has include_prompt false, which is not supported: a prompt is not known from its text',
    );
  const [chosen, ...others] = chosenModes(config);
  if (chosen === undefined || others.length > 0) {
    const found = chosen === undefined ? 'none' : [chosen, ...others].map(([flag]) => flag).join(' and ');
    throw corrupt(poolingPath, `chooses ${found}; expected one of ${known}`);
  }
  const [flag, , pooling] = chosen;
  if (pooling !== null) return pooling;
  throw unsupported(poolingPath, `has ${flag}, which is not supported; supported: ${known}`);
}

function chosenModes(config: ConfigObject): (typeof modes)[number][] {
  const named = config['pooling_mode'] ?? null;
  const flagged = modes.filter(([flag]) => config[flag] === true);
  if (named === null) return flagged;
  const chosen = modes.find(([, name]) => name === named);
  if (chosen === undefined)
    throw unsupported(poolingPath, `has pooling_mode ${quote(named)}; supported: ${known}`);
  return [...new Set([chosen, ...flagged])];
}
