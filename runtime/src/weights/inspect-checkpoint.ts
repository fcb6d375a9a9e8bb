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
import type { TensorPlace } from './pieces.js';

/** Runs one read of the source; the pull passes its retries in. */
export type Attempt = <T>(read: () => Promise<T>) => Promise<T>;

/** The head of a weight file: what the file begins with, and where its tensors lie. */
export interface WeightsHeader {
  readonly bytes: Uint8Array;
  readonly tensors: readonly TensorPlace[];
}

/** All files that the runtime needs. */
export interface InspectedCheckpoint {
  /** Small files first. */
  readonly files: readonly FileVersion[];
  /** Of the files that hold weights, by name. */
  readonly headers: ReadonlyMap<string, WeightsHeader>;
}

/**
 * @throws FailureError ModelNotFound, UnsupportedArchitecture, UnsupportedQuantization, TokenizerMissing,
 *   CheckpointIncomplete, CheckpointCorrupt, and what the source throws
 */
export async function inspectCheckpoint(
  source: CheckpointSource,
  attempt: Attempt,
): Promise<InspectedCheckpoint> {
  const listing = await attempt(() => source.list());
  requireConfig(source.uri, listing);
  parseCheckpointConfig(await readText(source, 'config.json', attempt));

  const index = await readIndex(source, listing, attempt);
  const names = chooseFiles(source.uri, listing, index);
  const files: FileVersion[] = [];
  for (const name of names) files.push(await attempt(() => source.version(name)));

  const headers = new Map<string, WeightsHeader>();
  for (const file of files.filter(({ name }) => name.endsWith('.safetensors'))) {
    headers.set(file.name, await readHeader(source, file, attempt));
  }
  if (index !== null) requireTensors(index, headers);
  return { files, headers };
}

async function readIndex(
  source: CheckpointSource,
  listing: readonly SourceFile[],
  attempt: Attempt,
): Promise<SafetensorsIndex | null> {
  if (!listing.some((file) => file.name === safetensorsIndexFile)) return null;
  return parseSafetensorsIndex(await readText(source, safetensorsIndexFile, attempt));
}

async function readHeader(
  source: CheckpointSource,
  file: FileVersion,
  attempt: Attempt,
): Promise<WeightsHeader> {
  const firstEnd = Math.min(headerLengthBytes, file.bytes);
  const first = await attempt(() => readBytes(source, file, 0, firstEnd));
  const headerEnd = headerLengthBytes + parseHeaderLength(file.name, first, file.bytes);
  const header = await attempt(() => readBytes(source, file, headerLengthBytes, headerEnd));
  // Tensors lie one after the other, without gaps.
  let end = headerEnd;
  const tensors = parseSafetensorsHeader(file.name, header, file.bytes).map(({ name, bytes }) => {
    const begin = end;
    end += bytes;
    return { name, range: [begin, end] as const };
  });
  return { bytes: Buffer.concat([first, header]), tensors };
}

function requireTensors(index: SafetensorsIndex, headers: ReadonlyMap<string, WeightsHeader>): void {
  const found = new Set(
    [...headers].flatMap(([file, { tensors }]) => tensors.map(({ name }) => `${file}/${name}`)),
  );
  const missing = [...index.weightMap].filter(([tensor, file]) => !found.has(`${file}/${tensor}`));
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
