// A LoRA adapter on this machine, by its headers alone.

import { FailureError } from '@llmservice/crds';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { adapterConfigFile } from '../../adapters/adapter-config.js';
import { adapterWeightsFile, type LowRankPair } from '../../adapters/adapter-tensors.js';
import { judgeAdapter } from '../../adapters/judge-adapter.js';
import type { ModelShape } from '../../config/model-shape.js';
import { checkSmallFile } from '../../json/small-json.js';
import { readHeader } from './open-checkpoint.js';

export interface LocalAdapter {
  /** The file with the tensors. */
  readonly file: string;
  readonly pairs: readonly LowRankPair[];
}

/** @throws FailureError as `judgeAdapter`; CheckpointIncomplete where a file is not there */
export async function openAdapter(dir: string, shape: ModelShape, maxRank: number): Promise<LocalAdapter> {
  const file = join(dir, adapterConfigFile);
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new FailureError('CheckpointIncomplete', `${file} cannot be read`, undefined, { cause });
  });
  checkSmallFile(adapterConfigFile, size);
  const config = await readFile(file, 'utf8');
  const tensors = await readHeader(dir, adapterWeightsFile);
  return { file: join(dir, adapterWeightsFile), pairs: judgeAdapter(config, tensors, shape, maxRank) };
}
