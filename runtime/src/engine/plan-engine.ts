// From settings and the checkpoint's own headers to the options that the native engine is loaded with:
// the same memory plan that the operator makes, here with the memory that this process really has.

import { open, readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkLoadQuantization,
  checkSpeculative,
  draftsOf,
  FailureError,
  headerLengthBytes,
  parseCheckpointConfig,
  parseHeaderLength,
  parseSafetensorsHeader,
  parseSafetensorsIndex,
  planMemory,
  residentWeightBytes,
  safetensorsIndexFile,
  safetensorsSingleFile,
  type TensorEntry,
} from '@llmservice/crds';
import type { EngineOptions } from '@llmservice/native';
import { usableMemoryBytes } from './memory-limit.js';
import type { EngineSettings } from './protocol.js';

/**
 * Options for `loadEngine`; those of several ranks differ in their place only, which is not known here.
 * @throws FailureError of the checkpoint parsers and of `planMemory` (ModelTooLarge, KvCacheTooSmall with detail.fits)
 */
export async function planEngine(settings: EngineSettings): Promise<EngineOptions> {
  const { modelDir, tensor, dtype, kvCacheDtype, quantization, blockSize, prefixCaching } = settings;
  const { maxNumSeqs, maxNumBatchedTokens, speculative } = settings;
  const shape = parseCheckpointConfig(await readConfig(modelDir));
  checkLoadQuantization(shape.quantization, quantization);
  const tensors = await readTensorEntries(modelDir);
  checkSpeculative(tensors, speculative);
  const { numBlocks, numStateSnapshots, maxModelLen } = planMemory({
    shape,
    accelerator: 'cpu',
    weightBytes: residentWeightBytes(tensors, shape, { dtype, quantization, speculative }),
    memoryBytes: settings.memoryBytesPerDevice ?? usableMemoryBytes(readTextIfThere),
    memoryUtilizationPercent: settings.memoryUtilizationPercent,
    tensor,
    maxModelLen: settings.maxModelLen,
    maxNumSeqs,
    maxNumBatchedTokens,
    blockSize,
    prefixCaching,
    dtype,
    speculative,
    kvCacheDtype,
  });
  const threads = settings.threads === null ? null : Math.max(1, Math.floor(settings.threads / tensor));
  return {
    modelDir,
    blockSize,
    numBlocks,
    maxNumSeqs,
    numStateSnapshots,
    maxModelLen,
    maxNumBatchedTokens,
    dtype,
    kvCacheDtype,
    quantization,
    speculative: { method: speculative.method, tokens: draftsOf(speculative) },
    threads,
    isa: 'auto',
    logitHashes: false,
    place: null,
  };
}

async function readConfig(modelDir: string): Promise<string> {
  const file = join(modelDir, 'config.json');
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw incomplete(file, cause);
  });
}

async function readTensorEntries(modelDir: string): Promise<TensorEntry[]> {
  const index = await readFile(join(modelDir, safetensorsIndexFile), 'utf8').catch(() => null);
  const files = index === null ? [safetensorsSingleFile] : parseSafetensorsIndex(index).files;
  const entries: TensorEntry[] = [];
  for (const file of files) entries.push(...(await readHeader(modelDir, file)));
  return entries;
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
    return parseSafetensorsHeader(file, header, size);
  } finally {
    await handle.close();
  }
}

function incomplete(file: string, cause: unknown): FailureError {
  return new FailureError('CheckpointIncomplete', `${file} cannot be read`, undefined, { cause });
}

function readTextIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
