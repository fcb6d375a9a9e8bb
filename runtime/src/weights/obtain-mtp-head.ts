// From engine.speculative.uri to a folder that holds another checkpoint's layer for multi-token prediction: a local
// folder as it is, of S3 the weight files that hold the layer, pulled to a folder of their own and verified.

import { FailureError, safetensorsIndexFile, type ModelShape } from '@llmservice/crds';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attempt } from './inspect-checkpoint.js';
import { inspectMtpHead } from './inspect-mtp-head.js';
import { openSource, type SourceSettings } from './open-source.js';
import { pullFiles, type PullObserver } from './pull-files.js';
import { parallelRanges, pieceBytes } from './pull-sizes.js';

export interface HeadOptions extends SourceSettings {
  readonly uri: string;
  /** The model that the layer is for. */
  readonly trunk: ModelShape;
  /** What the model's own weights will still take of the disk. */
  readonly reservedBytes: number;
  readonly observer: PullObserver;
  readonly attempt: Attempt;
}

/**
 * Resolves with the folder, once all of the layer is in it.
 * @throws as `obtainCheckpoint`; InvalidEngineConfig where the layer is not one for `trunk`
 */
export async function obtainMtpHead(options: HeadOptions): Promise<string> {
  const { uri, trunk, attempt, observer, signal, reservedBytes } = options;
  const { source, file, dir, isLocal, close } = openSource('engine.speculative.uri', uri, options);
  try {
    if (file !== null) {
      const told = `engine.speculative.uri ${uri} is a GGUF file; a head is read from a folder with safetensors`;
      throw new FailureError('InvalidEngineConfig', told);
    }
    const { checkpoint, weightMap } = await inspectMtpHead(source, trunk, attempt);
    if (isLocal) return dir;
    // The whole checkpoint may be served from the same disk.
    const own = `${dir}-mtp`;
    const how = { parallelRanges, pieceBytes, attempt, observer, signal, reservedBytes };
    const { arrivals, verified } = await pullFiles({ source, checkpoint, dir: own, ...how });
    await verified.finally(() => arrivals.close());
    // The index of the whole would name files that are not here.
    if (weightMap !== null) {
      await writeFile(join(own, safetensorsIndexFile), JSON.stringify({ weight_map: weightMap }));
    }
    return own;
  } finally {
    close();
  }
}
