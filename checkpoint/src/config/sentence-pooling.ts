// How an embedder pools, by the files that sentence-transformers keeps beside a checkpoint: modules.json lists what a text goes
// through, 1_Pooling/config.json which hidden states become the embedding. Without them the architecture decides.

import { FailureError } from '@llmservice/crds';
import { parseSmallJson } from '../json/small-json.js';
import { poolingFile, poolingFolder, pathOf } from './nested-files.js';
import { type ConfigObject, isObject, quote } from './config-fields.js';

/** Of the hidden states of a text: its first token's, their mean, or its last token's. */
export type SentencePooling = 'cls' | 'mean' | 'last';

/** Texts; null where the checkpoint has no such file. */
export interface PoolingFiles {
  readonly modules: string | null;
  readonly pooling: string | null;
}

export const modulesFile = 'modules.json';
/** For messages. */
const poolingPath = pathOf(poolingFile);

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
 * Null: the checkpoint does not say.
 * @param hidden width of the model
 * @throws FailureError CheckpointCorrupt, CheckpointIncomplete, UnsupportedArchitecture
 */
export function readPooling({ modules, pooling }: PoolingFiles, hidden: number): SentencePooling | null {
  const isListed = modules !== null && listsPooling(parseSmallJson(modulesFile, modules));
  if (pooling !== null) return poolingOf(parseSmallJson(poolingPath, pooling), hidden);
  if (!isListed) return null;
  throw new FailureError(
    'CheckpointIncomplete',
    `${modulesFile} names ${poolingFolder}, but there is no ${poolingPath}: put it beside the weights, or remove ${modulesFile}`,
    { file: poolingPath },
  );
}

/** What a text may go through, to become an embedding or, where nothing pools, the score of a reranker. */
const kinds = {
  embedding: ['Transformer', 'Pooling', 'Normalize'],
  score: ['Transformer', 'Normalize', 'LogitScore', 'CausalScoreHead'],
} as const;

/** Whether there is a module that pools. Embeddings have length 1 whether one normalizes them or not. */
function listsPooling(list: unknown): boolean {
  if (!Array.isArray(list)) throw corrupt(modulesFile, 'is not a list of modules');
  const modules = list.map((module: unknown) => {
    const { type, path } = isObject(module) ? module : {};
    if (typeof type !== 'string' || typeof path !== 'string')
      throw corrupt(modulesFile, 'has a module without type and path');
    const kind = type.slice(type.lastIndexOf('.') + 1);
    if (kind === 'Pooling' && path !== poolingFolder)
      throw unsupported(modulesFile, `has its pooling in ${quote(path)}; it is read in ${poolingFolder}`);
    return { kind, type };
  });
  const pools = modules.some(({ kind }) => kind === 'Pooling');
  // A reranker's list says nothing of embeddings. ColBERT's and SPLADE's do: theirs are of every token, or of the vocabulary.
  const known: readonly string[] = pools ? kinds.embedding : kinds.score;
  const other = modules.find(({ kind }) => !known.includes(kind));
  if (other === undefined) return pools;
  throw unsupported(
    modulesFile,
    `lists ${other.type}, which is not supported: texts go through Transformer, Pooling and Normalize`,
  );
}

function poolingOf(config: unknown, hidden: number): SentencePooling {
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

const corrupt = (file: string, problem: string): FailureError =>
  new FailureError('CheckpointCorrupt', `${file} ${problem}`, { file });

const unsupported = (file: string, problem: string): FailureError =>
  new FailureError('UnsupportedArchitecture', `${file} ${problem}`, { file });
