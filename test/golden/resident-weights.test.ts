// The memory plan counts a checkpoint's weights before they are read: to the byte what the engine then holds.

import { openSync, readdirSync, readFileSync, readSync, statSync, closeSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import type { TensorEntry } from '@llmservice/crds';
import {
  headerLengthBytes,
  parseCheckpointConfig,
  parseHeaderLength,
  parseSafetensorsHeader,
  residentWeightBytes,
} from '@llmservice/crds';

import { loadGolden } from './engine-driver.js';
import { hasMtp, modelsDir } from './reference-bar.js';

const models = readdirSync(modelsDir);
const holdings = (['float32', 'bfloat16'] as const).flatMap((dtype) =>
  (['none', 'fp8', 'int8'] as const).flatMap((quantization) => [
    { dtype, quantization, speculative: { method: 'none', tokens: 0 } } as const,
    { dtype, quantization, speculative: { method: 'mtp', tokens: 1 } } as const,
  ]),
);

describe.each(models)('%s', (model) => {
  const config = readFileSync(`${modelsDir}${model}/config.json`, 'utf8');
  const shape = parseCheckpointConfig(config);
  const quantized = shape.quantization !== 'none';

  const possible = holdings
    .filter(({ quantization }) => quantization === 'none' || !quantized)
    .filter(({ speculative: { method } }) => method === 'none' || hasMtp(model));
  test.each(possible)(
    'held in $dtype, quantized at load: $quantization, drafts: $speculative.method',
    async (options) => {
      const engine = await loadGolden(modelsDir + model, { ...options, isa: 'portable', threads: 1 });
      try {
        expect(residentWeightBytes(readTensors(model), shape, options)).toBe(engine.info.weightBytes);
      } finally {
        await engine.dispose();
      }
    },
  );
});

function readTensors(model: string): TensorEntry[] {
  return readdirSync(modelsDir + model)
    .filter((file) => file.endsWith('.safetensors'))
    .flatMap((file) => {
      const path = `${modelsDir}${model}/${file}`;
      const bytes = statSync(path).size;
      const length = parseHeaderLength(file, readAt(path, 0, headerLengthBytes), bytes);
      return parseSafetensorsHeader(file, readAt(path, headerLengthBytes, length), bytes);
    });
}

function readAt(path: string, position: number, length: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(length);
    readSync(file, bytes, 0, length, position);
    return bytes;
  } finally {
    closeSync(file);
  }
}
