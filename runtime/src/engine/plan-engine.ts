// From settings and the checkpoint's own headers to the options of the native engine: the memory plan is made
// before a single weight is read.

import {
  headerLengthBytes,
  parseCheckpointConfig,
  parseHeaderLength,
  parseSafetensorsHeader,
  planMemory,
  residentWeightBytes,
  type TensorEntry,
} from '@llmservice/crds';
import type { EngineOptions } from '@llmservice/native';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { availableMemory } from './available-memory.js';
import type { EngineSettings } from './protocol.js';

/** @throws FailureError ModelTooLarge, KvCacheTooSmall, CheckpointCorrupt, UnsupportedArchitecture */
export async function planEngine(settings: EngineSettings): Promise<EngineOptions> {
  const { modelDir, blockSize, maxNumSeqs, maxNumBatchedTokens, dtype, threads } = settings;
  const shape = parseCheckpointConfig(await readFile(join(modelDir, 'config.json'), 'utf8'));
  const plan = planMemory({
    shape,
    accelerator: 'cpu',
    weightBytes: residentWeightBytes(await readTensors(modelDir), shape, dtype),
    memoryBytes: settings.memoryBytesPerDevice ?? (await availableMemory()),
    memoryUtilizationPercent: settings.memoryUtilizationPercent,
    tensor: 1,
    maxModelLen: settings.maxModelLen,
    maxNumSeqs,
    maxNumBatchedTokens,
    blockSize,
    dtype,
  });
  const { numBlocks, maxModelLen } = plan;
  return {
    modelDir,
    blockSize,
    numBlocks,
    maxNumSeqs,
    maxModelLen,
    maxNumBatchedTokens,
    dtype,
    threads,
    isa: 'auto',
  };
}

async function readTensors(dir: string): Promise<TensorEntry[]> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.safetensors'));
  const headers = await Promise.all(files.map((file) => readHeader(dir, file)));
  return headers.flat();
}

async function readHeader(dir: string, file: string): Promise<TensorEntry[]> {
  const handle = await open(join(dir, file));
  try {
    const { size } = await handle.stat();
    const first = Buffer.alloc(headerLengthBytes);
    const { bytesRead } = await handle.read(first, 0, headerLengthBytes, 0);
    const header = Buffer.alloc(parseHeaderLength(file, first.subarray(0, bytesRead), size));
    await handle.read(header, 0, header.length, headerLengthBytes);
    return parseSafetensorsHeader(file, header, size);
  } finally {
    await handle.close();
  }
}
