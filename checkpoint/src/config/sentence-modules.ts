// What becomes of a text's hidden states in an embedder, by the files that sentence-transformers keeps beside a checkpoint:
// modules.json lists what a text goes through, folders below have what each module is.

import { parseSmallJson } from '../json/small-json.js';
import { isObject, quote } from './config-fields.js';
import { denseBytes, denseFileOf, readDense, type DenseModule } from './dense-module.js';
import { corruptModule, incompleteModule, unsupportedModule } from './module-failures.js';
import { pathOf, poolingFile, poolingFolder } from './nested-files.js';
import {
  lengthFile,
  noSettings,
  promptsFile,
  readSettings,
  type SentenceSettings,
} from './sentence-settings.js';
import { poolingPath, readPooling, type SentencePooling } from './sentence-pooling.js';

export const modulesFile = 'modules.json';

/** Of all Dense in float32, many times what any embedder has. The server process holds them, which no plan for a GPU counts. */
const maxDenseBytes = 2 ** 30;

export interface SentenceModules {
  /** Null: the checkpoint does not say. */
  readonly pooling: SentencePooling | null;
  /** What the pooled hidden states go through, one after the other. */
  readonly dense: readonly DenseModule[];
  readonly settings: SentenceSettings;
}

/**
 * @param read text of a file by its flat name; null: there is none
 * @param hidden width of the model
 * @throws FailureError CheckpointCorrupt, CheckpointIncomplete, UnsupportedArchitecture
 */
export async function readSentenceModules(
  read: (name: string) => Promise<string | null>,
  hidden: number,
): Promise<SentenceModules> {
  const [list, pooling] = [await read(modulesFile), await read(poolingFile)];
  const listed = list === null ? nothing : readList(parseSmallJson(modulesFile, list));
  if (pooling === null && listed.pools)
    throw incompleteModule(
      poolingPath,
      `${modulesFile} names ${poolingFolder}, but there is no ${poolingPath}: put it beside the weights, or remove ${modulesFile}`,
    );
  const dense: DenseModule[] = [];
  for (const folder of listed.dense) {
    const file = denseFileOf(folder);
    const text = await read(file);
    if (text === null)
      throw incompleteModule(
        pathOf(file),
        `${modulesFile} names ${folder}, but there is no ${pathOf(file)}: put it beside the weights`,
      );
    const [before] = dense.slice(-1);
    dense.push(
      readDense(folder, text, {
        width: before?.outFeatures ?? hidden,
        from: before === undefined ? 'hidden_size of config.json' : `out_features of ${before.path}`,
      }),
    );
    const bytes = dense.reduce((sum, module) => sum + denseBytes(module), 0);
    if (bytes > maxDenseBytes)
      throw unsupportedModule(
        modulesFile,
        `lists Dense up to ${folder} whose values take ${String(bytes)} bytes in float32; supported: ${String(maxDenseBytes)} of all together`,
      );
  }
  const settings = list === null ? noSettings : readSettings(await read(promptsFile), await read(lengthFile));
  return { pooling: pooling === null ? null : readPooling(pooling, hidden), dense, settings };
}

interface Listed {
  /** Whether there is a module that pools. */
  readonly pools: boolean;
  /** Folders, in their order. */
  readonly dense: readonly string[];
}

const nothing: Listed = { pools: false, dense: [] };

/** What a text may go through, to become an embedding or, where nothing pools, the score of a reranker. */
const kinds = {
  embedding: ['Transformer', 'Pooling', 'Dense', 'Normalize'],
  score: ['Transformer', 'Normalize', 'LogitScore', 'CausalScoreHead'],
} as const;

/** Embeddings have length 1 whether a module normalizes them or not. */
function readList(list: unknown): Listed {
  if (!Array.isArray(list)) throw corruptModule(modulesFile, 'is not a list of modules');
  const modules = list.map((module: unknown) => {
    const { type, path } = isObject(module) ? module : {};
    if (typeof type !== 'string' || typeof path !== 'string')
      throw corruptModule(modulesFile, 'has a module without type and path');
    return { kind: type.slice(type.lastIndexOf('.') + 1), type, path };
  });
  const pools = modules.some(({ kind }) => kind === 'Pooling');
  // A reranker's list says nothing of embeddings. ColBERT's and SPLADE's do: theirs are of every token, or of the vocabulary.
  const known: readonly string[] = pools ? kinds.embedding : kinds.score;
  const other = modules.find(({ kind }) => !known.includes(kind));
  if (other !== undefined)
    throw unsupportedModule(
      modulesFile,
      `lists ${other.type}, which is not supported: texts go through Transformer, Pooling, Dense and Normalize`,
    );
  const folders = modules
    .filter(({ kind }) => kind === 'Pooling' || kind === 'Dense')
    .map(({ path }) => path);
  const twice = folders.find((path, index) => folders.indexOf(path) !== index);
  if (twice !== undefined)
    throw corruptModule(modulesFile, `lists ${quote(twice)} twice; expected a folder for each module`);
  let before = 'Transformer';
  for (const { kind, path } of modules) {
    if (kind === 'Pooling' && path !== poolingFolder)
      throw unsupportedModule(
        modulesFile,
        `has its pooling in ${quote(path)}; it is read in ${poolingFolder}`,
      );
    if (kind === 'Dense' && !['Pooling', 'Dense'].includes(before))
      throw unsupportedModule(modulesFile, `has Dense behind ${before}; it is read behind Pooling or Dense`);
    if (kind === 'Dense' && denseFileOf(path) === pathOf(denseFileOf(path)))
      throw unsupportedModule(modulesFile, `has Dense in ${quote(path)}; it is read in N_Dense, as 2_Dense`);
    before = kind;
  }
  return { pools, dense: modules.filter(({ kind }) => kind === 'Dense').map(({ path }) => path) };
}
