// Checkpoints of a tenant that end whoever parses them as any JSON: headers, indexes and configs of arrays for ever, levels
// for ever, blanks for ever, and counts that no memory holds.

import { llamaCheckpoint } from '../builders/checkpoint.js';

const mib = 2 ** 20;

/** A weight file whose header begins so and goes on with the unit. */
function weights(headerBytes: number, begin: string, unit: string, end = ''): Buffer {
  const file = Buffer.alloc(8 + headerBytes, unit);
  file.writeBigUInt64LE(BigInt(headerBytes));
  file.write(begin, 8);
  file.write(end, file.length - end.length);
  return file;
}

function text(bytes: number, begin: string, unit: string): Buffer {
  const file = Buffer.alloc(bytes, unit);
  file.write(begin);
  return file;
}

/** 300,000 tensors, as only the largest models have, and one more that lies where another does. */
function manyTensors(): Buffer {
  const entry = (i: number, at: number): string =>
    `"model.layers.${i}.mlp.experts.gate_proj.weight":{"dtype":"U8","shape":[1],"data_offsets":[${at},${at + 1}]}`;
  const entries = Array.from({ length: 300_000 }, (_, i) => entry(i, i));
  const header = Buffer.from(`{${entries.join(',')},${entry(300_001, 5)}}`);
  return Buffer.concat([weights(header.length, '', ' ').subarray(0, 8), header, Buffer.alloc(300_001)]);
}

const single = (file: Uint8Array): Record<string, string | Uint8Array> => ({
  'config.json': String(llamaCheckpoint()['config.json']),
  'tokenizer.json': '{}',
  'model.safetensors': file,
});

function gguf(): Buffer {
  const file = Buffer.alloc(8 * mib);
  file.write('GGUF');
  file.writeUInt32LE(3, 4);
  file.writeBigUInt64LE(2n ** 63n, 8);
  file.writeBigUInt64LE(2n ** 63n, 16);
  return file;
}

/** Files by the name of their folder. */
export function hostileCheckpoints(): Record<string, Record<string, string | Uint8Array>> {
  return {
    'arrays-31': single(weights(31 * mib, '{"a":', '[],')),
    'arrays-64': single(weights(64 * mib, '', '[],')),
    'nested-64': single(weights(64 * mib, '{"a":{"shape":', '[')),
    'blanks-64': single(weights(64 * mib, '{', ' ')),
    'metadata-64': single(weights(64 * mib, '{"__metadata__":{"a":"', 'x')),
    'many-tensors': single(manyTensors()),
    'index-31': {
      ...llamaCheckpoint(),
      'model.safetensors.index.json': text(31 * mib, '{"metadata":', '[],'),
    },
    'index-64': {
      ...llamaCheckpoint(),
      'model.safetensors.index.json': text(64 * mib, '{"weight_map":{', '{'),
    },
    'config-4': { ...llamaCheckpoint(), 'config.json': text(4 * mib, '{"a":[', '[],') },
    'config-deep': { ...llamaCheckpoint(), 'config.json': text(mib, '{"a":', '[') },
    'config-31': { ...llamaCheckpoint(), 'config.json': text(31 * mib, '{"a":[', '[],') },
    gguf: { 'model.gguf': gguf() },
  };
}
