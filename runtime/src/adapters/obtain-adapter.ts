// From the URI of an adapter to a folder that holds its two files: a local folder as it is, of S3 a copy of its own, pulled
// and verified.

import { adapterConfigFile, adapterWeightsFile } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { FileVersion } from '../weights/checkpoint-source.js';
import { readHeader, type Attempt, type WeightsHeader } from '../weights/inspect-checkpoint.js';
import { openSource, type OpenSource, type SourceSettings } from '../weights/open-source.js';
import { pullFiles } from '../weights/pull-files.js';
import { parallelRanges, pieceBytes } from '../weights/pull-sizes.js';

export interface ObtainedAdapter {
  readonly dir: string;
  /** It is not read any more. Idempotent. */
  readonly release: () => void;
}

/** @throws FailureError CheckpointIncomplete, InvalidEngineConfig, and those of S3 and of the disk */
export async function obtainAdapter(
  uri: string,
  settings: SourceSettings,
  attempt: Attempt,
): Promise<ObtainedAdapter> {
  // Of the node's cache, the engine process could read only what it has inherited.
  const weightsDir = join(ownFolder(settings.weightsDir), randomUUID());
  const own = { ...settings, weightsDir, cache: null };
  const opened = await openSource('adapters', uri, { pin: null, suffix: '' }, own, attempt);
  try {
    if (opened.file !== null) {
      const message = `the adapter ${uri} is a GGUF file; expected is a folder with ${adapterConfigFile}`;
      throw new FailureError('InvalidEngineConfig', message);
    }
    const files = await filesOf(opened, attempt);
    await pull(opened, files, settings, attempt);
    return { dir: opened.dir, release: () => discard(opened, weightsDir) };
  } catch (error) {
    discard(opened, weightsDir);
    throw error;
  }
}

const cleared = new Set<string>();
/** Of this host: a folder may be shared with others, whose processes have numbers of their own. */
const prefix = `llmservice-adapters-${hostname()}-`;

/**
 * Of this process. Adapters of one that was killed are of no use to another: they go, and so do those that have the number of this
 * one, as a container's has that starts anew.
 */
export function ownFolder(weightsDir: string): string {
  if (!cleared.has(weightsDir)) {
    cleared.add(weightsDir);
    const names = existsSync(weightsDir) ? readdirSync(weightsDir) : [];
    for (const name of names) {
      const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : NaN;
      if (pid === process.pid || (pid > 0 && !isRunning(pid))) removeIfAllowed(join(weightsDir, name));
    }
  }
  return join(weightsDir, `${prefix}${process.pid}`);
}

/** What another user left is in nobody's way. */
function removeIfAllowed(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM'].includes(code)) throw error;
  }
}

/** One of another user is. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** What was pulled for one load is of no use to another. */
function discard({ release }: OpenSource, weightsDir: string): void {
  release();
  rmSync(weightsDir, { recursive: true, force: true });
}

async function filesOf({ source }: OpenSource, attempt: Attempt): Promise<FileVersion[]> {
  const names = (await attempt(() => source.list()).catch(asNoFolder)).map(({ name }) => name);
  const wanted = [adapterConfigFile, adapterWeightsFile];
  const missing = wanted.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const message = `the adapter ${source.uri} lacks ${missing.join(' and ')}; found: ${names.slice(0, 10).join(', ')}`;
    throw new FailureError('CheckpointIncomplete', message, { missing: missing.length });
  }
  return Promise.all(wanted.map((name) => attempt(() => source.version(name))));
}

/** What a checkpoint's own folder lacks has another remedy. */
function asNoFolder(error: unknown): never {
  if (!(error instanceof FailureError) || error.failure.reason !== 'ModelNotFound') throw error;
  const message = `there is no such folder: ${error.message}; expected is one with ${adapterConfigFile} and ${adapterWeightsFile}`;
  throw new FailureError('CheckpointIncomplete', message, undefined, { cause: error });
}

async function pull(
  { source, dir, room, isComplete, commit }: OpenSource,
  files: readonly FileVersion[],
  { observer, signal }: SourceSettings,
  attempt: Attempt,
): Promise<void> {
  if (isComplete) return;
  const weights = files.filter(({ name }) => name === adapterWeightsFile);
  const headers = new Map<string, WeightsHeader>();
  for (const file of weights) headers.set(file.name, await readHeader(source, file, attempt));
  const how = { parallelRanges, pieceBytes, attempt, observer, signal, room, reservedBytes: 0 };
  const { arrivals, verified } = await pullFiles({ source, checkpoint: { files, headers }, dir, ...how });
  await verified.finally(() => arrivals.close());
  await commit(files);
}
