// What a complete entry of the cache consists of. Written last and at once: an entry without one is not complete.

import { constants } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileVersion } from '../checkpoint-source.js';
import { openPlain, readPlainText, removePlain, writePlainText } from '../plain-file.js';
import { syncFolder } from '../sync-file.js';
import { matchesVersion } from '../verify-file.js';

const manifestFile = '.llmservice-manifest.json';

interface ManifestFile extends FileVersion {
  /** Time of the last change, in whole milliseconds. */
  readonly modifiedMs: number;
}

export interface Manifest {
  /** Where the files are from. */
  readonly origin: string;
  readonly files: readonly ManifestFile[];
}

/** `onPull`: what was verified once is judged by size and time; `always`: by its digest too, at every start. */
export type Verify = 'onPull' | 'always';

/** Null: the entry is not complete. An unreadable one is none. */
export async function readManifest(dir: string): Promise<Manifest | null> {
  try {
    const manifest = JSON.parse(await readPlainText(join(dir, manifestFile))) as Partial<Manifest>;
    const { origin, files } = manifest;
    return typeof origin === 'string' && Array.isArray(files) ? { origin, files } : null;
  } catch {
    return null;
  }
}

/** Sees to it that the files are on the disk for good and not written to any more, and says that they are all. */
export async function writeManifest(
  dir: string,
  origin: string,
  files: readonly FileVersion[],
  signal: AbortSignal,
): Promise<void> {
  const kept: ManifestFile[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const handle = await openPlain(join(dir, file.name), constants.O_RDONLY);
    try {
      await handle.sync();
      await handle.chmod(0o444);
      kept.push({ ...file, modifiedMs: Math.floor((await handle.stat()).mtimeMs) });
    } finally {
      await handle.close();
    }
  }
  const manifest: Manifest = { origin, files: kept };
  await writePlainText(join(dir, manifestFile), JSON.stringify(manifest), { sync: true });
  await syncFolder(dir);
}

export async function removeManifest(dir: string): Promise<void> {
  await removePlain(join(dir, manifestFile));
}

/** Names of the files that are not as they were when the manifest was written. */
export async function damagedFiles(
  dir: string,
  { files }: Manifest,
  verify: Verify,
  onChunk: () => void,
): Promise<string[]> {
  const damaged: string[] = [];
  for (const file of files) {
    const isWhole =
      (await isUnchanged(dir, file)) && (verify === 'onPull' || (await hasDigest(dir, file, onChunk)));
    if (!isWhole) damaged.push(file.name);
  }
  return damaged;
}

/** By size and time. */
export async function isUnchanged(dir: string, file: ManifestFile): Promise<boolean> {
  return lstat(join(dir, file.name)).then(
    (stats) => stats.isFile() && stats.size === file.bytes && Math.floor(stats.mtimeMs) === file.modifiedMs,
    () => false,
  );
}

function hasDigest(dir: string, file: ManifestFile, onChunk: () => void): Promise<boolean> {
  // A block that cannot be read is damage too.
  return matchesVersion(join(dir, file.name), file, onChunk).catch(() => false);
}
