// A LoRA adapter on this machine, by its headers alone.

import { FailureError } from '@llmservice/crds';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { adapterConfigFile, parseAdapterConfig } from '../../adapters/adapter-config.js';
import { adapterWeightsFile, planAdapter, type LowRankPair } from '../../adapters/adapter-tensors.js';
import type { ModelShape } from '../../config/model-shape.js';
import { checkSmallFile } from '../../json/small-json.js';
import { readHeader } from './open-checkpoint.js';

export interface LocalAdapter {
  /** The file with the tensors. */
  readonly file: string;
  readonly pairs: readonly LowRankPair[];
}

/** @throws FailureError as `parseAdapterConfig` and `planAdapter`; CheckpointIncomplete where a file is not there */
export async function openAdapter(dir: string, shape: ModelShape): Promise<LocalAdapter> {
  const file = join(dir, adapterConfigFile);
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new FailureError('CheckpointIncomplete', `${file} cannot be read`, undefined, { cause });
  });
  checkSmallFile(adapterConfigFile, size);
  const config = parseAdapterConfig(await readFile(file, 'utf8'));
  const tensors = await readHeader(dir, adapterWeightsFile);
  return { file: join(dir, adapterWeightsFile), pairs: planAdapter(config, tensors, shape) };
}
