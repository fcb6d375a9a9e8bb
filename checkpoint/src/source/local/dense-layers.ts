// Layers that a vector goes through behind the engine: the head of a checkpoint that classifies, and the modules behind the
// pooling of an embedder. The runtime holds them in float32.

import { join } from 'node:path';
import { readFile, stat } from 'node:fs/promises';
import { FailureError } from '@llmservice/crds';
import {
  checkDenseTensors,
  denseTensors,
  type DenseActivation,
  type DenseModule,
} from '../../config/dense-module.js';
import { pathOf } from '../../config/nested-files.js';
import { readSentenceModules, type SentenceModules } from '../../config/sentence-modules.js';
import { checkSmallFile } from '../../json/small-json.js';
import { classifierHead, encoderHead } from '../../weights/expected-tensors.js';
import { readHeader, type LocalCheckpoint } from './open-checkpoint.js';
import { readTensorValues } from './tensor-values.js';

/** activation(weights · x + bias) */
export interface DenseLayer {
  /** (out, in) */
  readonly weights: Float32Array;
  /** (out) */
  readonly bias: Float32Array | null;
  readonly inFeatures: number;
  readonly activation: DenseActivation;
}

/**
 * @param checkpoint whose tensors were found to be those of its shape
 * @throws FailureError CheckpointIncomplete, UnsupportedQuantization
 */
export async function readClassifierHead({
  dir,
  shape,
  tensors,
}: LocalCheckpoint): Promise<readonly DenseLayer[]> {
  const valuesOf = async (wanted: string): Promise<Float32Array> => {
    const found = tensors.find(({ name }) => name === wanted);
    if (found !== undefined) return readTensorValues(dir, found.file, found);
    throw new FailureError('CheckpointIncomplete', `the checkpoint has no tensor ${wanted}`);
  };
  const inFeatures = shape.hidden;
  if (shape.bert === null)
    return [{ weights: await valuesOf(classifierHead), bias: null, inFeatures, activation: 'identity' }];
  return Promise.all(
    encoderHead.map(async (module, i) => ({
      weights: await valuesOf(`${module}.weight`),
      bias: await valuesOf(`${module}.bias`),
      ...{ inFeatures, activation: i === 0 ? 'tanh' : 'identity' },
    })),
  );
}

/**
 * The modules of sentence-transformers: in their folders of a checkpoint on this machine, under their flat names of one that
 * was pulled.
 * @param hidden width of the model
 * @throws FailureError as `readSentenceModules`
 */
export function readLocalModules(dir: string, hidden: number): Promise<SentenceModules> {
  return readSentenceModules(async (name) => {
    const path = await findFile(dir, name);
    if (path === null) return null;
    try {
      checkSmallFile(name, (await stat(join(dir, path))).size);
      return await readFile(join(dir, path), 'utf8');
    } catch (error) {
      throw unreadable(path, error);
    }
  }, hidden);
}

/** @throws FailureError as `checkDenseTensors`, and CheckpointCorrupt */
export async function readDenseLayer(dir: string, dense: DenseModule): Promise<DenseLayer> {
  const { weightsFile, inFeatures, activation } = dense;
  const file = await findFile(dir, weightsFile);
  const tensors = file === null ? null : await readHeader(dir, file);
  checkDenseTensors(dense, tensors);
  const valuesOf = async (name: string): Promise<Float32Array | null> => {
    const found = tensors?.find((tensor) => tensor.name === name);
    return found === undefined || file === null ? null : readTensorValues(dir, file, found);
  };
  const weights = (await valuesOf(denseTensors.weight)) ?? new Float32Array();
  return { weights, bias: await valuesOf(denseTensors.bias), inFeatures, activation };
}

/** Path below the folder; null: it is not there. */
async function findFile(dir: string, name: string): Promise<string | null> {
  for (const path of new Set([pathOf(name), name])) {
    try {
      await stat(join(dir, path));
      return path;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['ENOENT', 'ENOTDIR'].includes(code)) throw unreadable(path, error);
    }
  }
  return null;
}

function unreadable(file: string, cause: unknown): FailureError {
  if (cause instanceof FailureError) return cause;
  const problem = `${file}: ${(cause as Error).message}`;
  return new FailureError('CheckpointCorrupt', problem, { file }, { cause });
}
