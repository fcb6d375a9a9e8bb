// From engine.speculative.uri to a folder that holds what drafts, another checkpoint's layer for multi-token prediction or a draft
// model: a local folder as it is, of S3 the weight files that hold it, pulled to a folder of their own and verified.

import { safetensorsIndexFile, type ModelShape } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { join } from 'node:path';
import type { FileVersion } from './checkpoint-source.js';
import { viewOf } from './file-view.js';
import type { Attempt } from './inspect-checkpoint.js';
import { inspectHead, type HeadMethod } from './inspect-head.js';
import { writePlainText } from './plain-file.js';
import { openSource, type OpenSource, type SourceSettings } from './open-source.js';
import { pullFiles } from './pull-files.js';
import { parallelRanges, pieceBytes } from './pull-sizes.js';

export interface HeadOptions extends SourceSettings {
  readonly uri: string;
  readonly method: HeadMethod;
  /** What it was when it was planned; null: not known. */
  readonly pin: string | null;
  /** The model that it drafts for. */
  readonly trunk: ModelShape;
  /** What the model's own weights will still take of the disk. */
  readonly reservedBytes: number;
  readonly attempt: Attempt;
}

export interface ObtainedHead {
  readonly dir: string;
  /** As those of `ObtainedCheckpoint`. */
  readonly descriptors: readonly number[];
  /** It is not read any more. Idempotent. */
  readonly release: () => void;
}

/**
 * Resolves with the folder, once all of it is there.
 * @throws as `obtainCheckpoint`; InvalidEngineConfig where it does not draft for `trunk`
 */
export async function obtainHead(options: HeadOptions): Promise<ObtainedHead> {
  const { uri, method, pin, attempt } = options;
  // The whole checkpoint may be served from the same disk.
  const part = { pin, suffix: `-${method}` } as const;
  const opened = await openSource('engine.speculative.uri', uri, part, options, attempt);
  const { release, disconnect } = opened;
  try {
    if (opened.file !== null) {
      const message = `engine.speculative.uri ${uri} is a GGUF file; a head is read from a folder with safetensors`;
      throw new FailureError('InvalidEngineConfig', message);
    }
    const view = await viewOf(opened, await pullHead(opened, options));
    disconnect();
    const end = (): void => {
      void view?.close();
      release();
    };
    return { dir: view?.dir ?? opened.dir, descriptors: view?.descriptors ?? [], release: end };
  } catch (error) {
    release();
    throw error;
  }
}

/** @returns what it is read from */
async function pullHead(
  { source, dir, room, isComplete, commit }: OpenSource,
  { method, trunk, attempt, observer, signal, reservedBytes }: HeadOptions,
): Promise<readonly { readonly name: string }[]> {
  const { checkpoint, weightMap } = await inspectHead(source, method, trunk, attempt);
  const { files } = checkpoint;
  if (isComplete) return weightMap === null ? files : [...files, { name: safetensorsIndexFile }];
  const how = { parallelRanges, pieceBytes, attempt, observer, signal, room, reservedBytes };
  const { arrivals, verified } = await pullFiles({ source, checkpoint, dir, ...how });
  await verified.finally(() => arrivals.close());
  const index = weightMap === null ? null : await writeIndex(dir, weightMap);
  const all = index === null ? files : [...files, index];
  await commit(all);
  return all;
}

/** The index of the whole would name files that are not here. */
async function writeIndex(dir: string, weightMap: Readonly<Record<string, string>>): Promise<FileVersion> {
  const text = JSON.stringify({ weight_map: weightMap });
  await writePlainText(join(dir, safetensorsIndexFile), text);
  return { name: safetensorsIndexFile, bytes: Buffer.byteLength(text), etag: null, digest: null };
}
