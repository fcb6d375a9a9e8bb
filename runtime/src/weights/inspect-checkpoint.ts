// Looks at a checkpoint before any weight is fetched: architecture, files, index and safetensors headers.
// Everything that a header can tell about a broken checkpoint is told here, in seconds, not after the pull.

import {
  FailureError,
  headerLengthBytes,
  parseCheckpointConfig,
  parseHeaderLength,
  parseSafetensorsHeader,
  parseSafetensorsIndex,
  safetensorsIndexFile,
  type SafetensorsIndex,
} from '@llmservice/crds';
import type { CheckpointSource, FileVersion, SourceFile } from './checkpoint-source.js';
import { chooseFiles, requireConfig } from './choose-files.js';

/** Runs one read of the source; the pull passes its retries in. */
export type Attempt = <T>(read: () => Promise<T>) => Promise<T>;

/**
 * Versions of all files that the runtime needs, small ones first.
 * @throws FailureError ModelNotFound, UnsupportedArchitecture, UnsupportedQuantization, TokenizerMissing,
 *   CheckpointIncomplete, CheckpointCorrupt, and what the source throws
 */
export async function inspectCheckpoint(source: CheckpointSource, attempt: Attempt): Promise<FileVersion[]> {
  const listing = await attempt(() => source.list());
  requireConfig(source.uri, listing);
  parseCheckpointConfig(await readText(source, 'config.json', attempt));

  const index = await readIndex(source, listing, attempt);
  const names = chooseFiles(source.uri, listing, index);
  const versions: FileVersion[] = [];
  for (const name of names) versions.push(await attempt(() => source.version(name)));

  const found = new Map<string, ReadonlySet<string>>();
  for (const file of versions.filter(({ name }) => name.endsWith('.safetensors'))) {
    found.set(file.name, await readTensorNames(source, file, attempt));
  }
  if (index !== null) requireTensors(index, found);
  return versions;
}

async function readIndex(
  source: CheckpointSource,
  listing: readonly SourceFile[],
  attempt: Attempt,
): Promise<SafetensorsIndex | null> {
  if (!listing.some((file) => file.name === safetensorsIndexFile)) return null;
  return parseSafetensorsIndex(await readText(source, safetensorsIndexFile, attempt));
}

async function readTensorNames(
  source: CheckpointSource,
  file: FileVersion,
  attempt: Attempt,
): Promise<Set<string>> {
  const firstEnd = Math.min(headerLengthBytes, file.bytes);
  const first = await attempt(() => readBytes(source, file, 0, firstEnd));
  const headerEnd = headerLengthBytes + parseHeaderLength(file.name, first, file.bytes);
  const header = await attempt(() => readBytes(source, file, headerLengthBytes, headerEnd));
  return new Set(parseSafetensorsHeader(file.name, header, file.bytes).map((tensor) => tensor.name));
}

function requireTensors(index: SafetensorsIndex, found: ReadonlyMap<string, ReadonlySet<string>>): void {
  const missing = [...index.weightMap].filter(([tensor, file]) => found.get(file)?.has(tensor) !== true);
  if (missing.length === 0) return;
  const told = missing.slice(0, 5).map(([tensor, file]) => `${tensor} in ${file}`);
  throw new FailureError(
    'CheckpointIncomplete',
    `${safetensorsIndexFile} names ${String(missing.length)} tensors that their files do not have: ${told.join(', ')}`,
    { missing: missing.length },
  );
}

async function readText(source: CheckpointSource, name: string, attempt: Attempt): Promise<string> {
  const file = await attempt(() => source.version(name));
  return new TextDecoder().decode(await attempt(() => readBytes(source, file, 0, file.bytes)));
}

async function readBytes(
  source: CheckpointSource,
  file: FileVersion,
  begin: number,
  end: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.read(file, begin, end)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
