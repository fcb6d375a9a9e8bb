// What a local checkpoint holds, by its headers alone: the model's shape and its tensors, in whatever container.

import {
  checkSmallFile,
  headerLengthBytes,
  isOfMtp,
  mostIndexBytes,
  parseCheckpointConfig,
  parseHeaderLength,
  readGgufCheckpoint,
  safetensorsIndexFile,
  safetensorsSingleFile,
  type ModelShape,
  type MtpHead,
  type TensorEntry,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findGguf, readLocalGguf } from './local-gguf.js';
import { parseHeaderInSteps, parseIndexInSteps } from './parse-in-steps.js';

export interface LocalCheckpoint {
  readonly shape: ModelShape;
  readonly tensors: readonly TensorEntry[];
}

/**
 * @param modelDir a folder, or a .gguf file
 * @throws FailureError of the checkpoint parsers
 */
export async function readLocalCheckpoint(modelDir: string): Promise<LocalCheckpoint> {
  const gguf = await findGguf(modelDir);
  if (gguf !== null) return readGgufCheckpoint(await readLocalGguf(gguf, { arrays: false }));
  const shape = parseCheckpointConfig(await readConfig(modelDir));
  return { shape, tensors: await readTensorEntries(modelDir) };
}

/**
 * The layer for multi-token prediction of a checkpoint in safetensors.
 * @throws FailureError of the checkpoint parsers
 */
export async function readLocalMtpHead(dir: string): Promise<MtpHead> {
  const { shape, tensors } = await readLocalCheckpoint(dir);
  return { shape, tensors: tensors.filter(({ name }) => isOfMtp(name)) };
}

async function readConfig(modelDir: string): Promise<string> {
  const file = join(modelDir, 'config.json');
  const { size } = await stat(file).catch((cause: unknown) => {
    throw incomplete(file, cause);
  });
  checkSmallFile('config.json', size);
  return readFile(file, 'utf8');
}

async function readTensorEntries(modelDir: string): Promise<TensorEntry[]> {
  const index = await readIndex(join(modelDir, safetensorsIndexFile));
  const files = index === null ? [safetensorsSingleFile] : (await parseIndexInSteps(index)).files;
  const entries: TensorEntry[] = [];
  for (const file of files) entries.push(...(await readHeader(modelDir, file)));
  return entries;
}

/** Null where there is none. */
async function readIndex(path: string): Promise<Uint8Array | null> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => null,
  );
  if (size === null) return null;
  if (size <= mostIndexBytes) return readFile(path);
  throw new FailureError(
    'CheckpointCorrupt',
    `${path} has ${String(size)} bytes, far more than such a file takes`,
  );
}

async function readHeader(modelDir: string, file: string): Promise<TensorEntry[]> {
  const path = join(modelDir, file);
  const handle = await open(path).catch((cause: unknown) => {
    throw incomplete(path, cause);
  });
  try {
    const { size } = await handle.stat();
    const first = Buffer.alloc(Math.min(headerLengthBytes, size));
    await handle.read(first, 0, first.length, 0);
    const header = Buffer.alloc(parseHeaderLength(file, first, size));
    await handle.read(header, 0, header.length, headerLengthBytes);
    return await parseHeaderInSteps(file, header, size);
  } finally {
    await handle.close();
  }
}

function incomplete(file: string, cause: unknown): FailureError {
  return new FailureError('CheckpointIncomplete', `${file} cannot be read`, undefined, { cause });
}
