// Inspects a checkpoint before any weight is fetched: architecture, files, index and headers of weight files.
// Everything that a header can show of a broken checkpoint is reported here, in seconds, not after the pull.

import {
  checkIndexed,
  checkSmallFile,
  chooseGguf,
  headerLengthBytes,
  isNestedWeights,
  isSmallCheckpointFile,
  parseCheckpointConfig,
  parseHeaderLength,
  maxIndexBytes,
  readGgufCheckpoint,
  readGgufHeaders,
  safetensorsIndexFile,
  storedBytes,
  type ModelShape,
  type Placed,
  type SafetensorsIndex,
  type TensorEntry,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { parseHeaderInSteps, parseIndexInSteps } from '@llmservice/checkpoint/local';
import type { CheckpointSource, FileVersion, SourceFile } from './checkpoint-source.js';
import { chooseFiles, chooseGgufFiles, requireConfig } from './choose-files.js';
import type { TensorPlace } from './pieces.js';

/** Runs one read of the source; the pull passes its retries in. */
export type Attempt = <T>(read: () => Promise<T>) => Promise<T>;

/** The head of a weight file: what the file begins with, and where its tensors lie. */
export interface WeightsHeader {
  readonly bytes: Uint8Array;
  readonly tensors: readonly TensorPlace[];
}

export interface SafetensorsHeader extends WeightsHeader {
  readonly tensors: readonly (TensorPlace & TensorEntry)[];
}

/** All files that the runtime needs. */
export interface InspectedCheckpoint {
  readonly shape: ModelShape;
  /** The GGUF file that it is, of a split one the first part; null for safetensors. */
  readonly gguf: string | null;
  /** Small files first. */
  readonly files: readonly FileVersion[];
  /** Of the files that hold weights, by name. */
  readonly headers: ReadonlyMap<string, WeightsHeader>;
}

/**
 * @param file the GGUF file in the source's folder that is meant; null for the folder
 * @throws FailureError ModelNotFound, UnsupportedArchitecture, UnsupportedQuantization, TokenizerMissing,
 *   CheckpointIncomplete, CheckpointCorrupt, and what the source throws
 */
export async function inspectCheckpoint(
  source: CheckpointSource,
  file: string | null,
  attempt: Attempt,
): Promise<InspectedCheckpoint> {
  const listing = await attempt(() => source.list());
  for (const { name, bytes } of listing) if (isSmallCheckpointFile(name)) checkSmallFile(name, bytes);
  const gguf =
    file ??
    chooseGguf(
      source.uri,
      listing.map(({ name }) => name),
    );
  return gguf === null
    ? inspectSafetensors(source, listing, attempt)
    : inspectGguf(source, gguf, listing, attempt);
}

async function inspectGguf(
  source: CheckpointSource,
  gguf: string,
  listing: readonly SourceFile[],
  attempt: Attempt,
): Promise<InspectedCheckpoint> {
  const files: FileVersion[] = [];
  for (const name of chooseGgufFiles(source.uri, listing, gguf)) {
    files.push(await attempt(() => source.version(name)));
  }
  const { shape, headers } = await readGguf(source, files, attempt);
  return { shape, gguf, files, headers };
}

async function readGguf(
  source: CheckpointSource,
  files: readonly FileVersion[],
  attempt: Attempt,
): Promise<Pick<InspectedCheckpoint, 'shape' | 'headers'>> {
  const weights = files.filter(({ name }) => name.endsWith('.gguf'));
  const byName = new Map(weights.map((file) => [file.name, file]));
  const read = (name: string, begin: number, end: number): Promise<Buffer> =>
    attempt(() => readBytes(source, byName.get(name) as FileVersion, begin, end));
  const { header, heads } = await readGgufHeaders(weights, read, { arrays: false });
  const { shape, tensors } = readGgufCheckpoint(header);
  const places = new Map<string, TensorPlace[]>([...heads.keys()].map((name) => [name, []]));
  for (const { name, file, offset, ...tensor } of tensors)
    places.get(file)?.push({ name, range: [offset, offset + storedBytes(tensor)] });
  const headers = [...heads].map(
    ([name, bytes]) => [name, { bytes, tensors: places.get(name) ?? [] }] as const,
  );
  return { shape, headers: new Map(headers) };
}

async function inspectSafetensors(
  source: CheckpointSource,
  listing: readonly SourceFile[],
  attempt: Attempt,
): Promise<InspectedCheckpoint> {
  requireConfig(source.uri, listing);
  const shape = parseCheckpointConfig(await readText(source, 'config.json', attempt));

  const index = await readIndex(source, listing, attempt);
  const names = chooseFiles(source.uri, listing, index);
  const files: FileVersion[] = [];
  for (const name of names) files.push(await attempt(() => source.version(name)));

  const headers = new Map<string, WeightsHeader>();
  const isShard = (name: string): boolean => name.endsWith('.safetensors') && !isNestedWeights(name);
  for (const file of files.filter(({ name }) => isShard(name))) {
    headers.set(file.name, await readHeader(source, file, attempt));
  }
  if (index !== null) checkIndexed(index, placesOf(headers));
  return { shape, gguf: null, files, headers };
}

function placesOf(headers: ReadonlyMap<string, WeightsHeader>): Placed[] {
  return [...headers].flatMap(([file, { tensors }]) => tensors.map(({ name }) => ({ file, name })));
}

export async function readIndex(
  source: CheckpointSource,
  listing: readonly SourceFile[],
  attempt: Attempt,
): Promise<SafetensorsIndex | null> {
  if (!listing.some((file) => file.name === safetensorsIndexFile)) return null;
  const file = await attempt(() => source.version(safetensorsIndexFile));
  if (file.bytes > maxIndexBytes) {
    throw new FailureError(
      'CheckpointCorrupt',
      `${file.name} has ${String(file.bytes)} bytes, far more than such a file takes`,
      { file: file.name },
    );
  }
  return parseIndexInSteps(await attempt(() => readBytes(source, file, 0, file.bytes)));
}

export async function readHeader(
  source: CheckpointSource,
  file: FileVersion,
  attempt: Attempt,
): Promise<SafetensorsHeader> {
  const firstEnd = Math.min(headerLengthBytes, file.bytes);
  const first = await attempt(() => readBytes(source, file, 0, firstEnd));
  const headerEnd = headerLengthBytes + parseHeaderLength(file.name, first, file.bytes);
  const header = await attempt(() => readBytes(source, file, headerLengthBytes, headerEnd));
  // Tensors lie one after the other, without gaps.
  let end = headerEnd;
  const entries = await parseHeaderInSteps(file.name, header, file.bytes);
  const tensors = entries.map((entry) => {
    const begin = end;
    end += entry.bytes;
    return { ...entry, range: [begin, end] as const };
  });
  return { bytes: Buffer.concat([first, header]), tensors };
}

export async function readText(source: CheckpointSource, name: string, attempt: Attempt): Promise<string> {
  const file = await attempt(() => source.version(name));
  checkSmallFile(name, file.bytes);
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
