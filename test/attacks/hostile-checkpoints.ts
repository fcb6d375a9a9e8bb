// Checkpoints of a tenant that end whoever parses them as any JSON: headers, indexes and configs that are well-formed, of
// arrays or levels or tensors for ever; and some that are not.

import { llamaCheckpoint } from '../builders/checkpoint.js';

const mib = 2 ** 20;

/** JSON of so many bytes: the unit again and again between begin and end, then blanks. */
function text(bytes: number, begin: string, unit: string, end: string): Buffer {
  const count = Math.floor((bytes - begin.length - end.length) / unit.length);
  const json = Buffer.alloc(bytes, ' ');
  json.write(begin);
  json.fill(unit, begin.length, begin.length + count * unit.length);
  json.write(end, begin.length + count * unit.length);
  return json;
}

const arrays = (bytes: number, begin: string, end: string): Buffer => text(bytes, begin, '[],', `[]${end}`);

function levels(bytes: number, begin: string, end: string): Buffer {
  const half = Math.floor((bytes - begin.length - end.length) / 2);
  return Buffer.from(`${begin}${'['.repeat(half)}${']'.repeat(half)}${end}`);
}

/** Tensors of no bytes, or of one each. */
function tensors(count: number, bytes: number): Buffer {
  const entries = Array.from({ length: count }, (_, i) => {
    const [begin, end] = [i * bytes, (i + 1) * bytes];
    return `"model.layers.${i}.weight":{"dtype":"U8","shape":[${bytes}],"data_offsets":[${begin},${end}]}`;
  });
  return Buffer.from(`{${entries.join(',')}}`);
}

function index(count: number): Buffer {
  const entries = Array.from({ length: count }, (_, i) => `"model.layers.${i}.weight":"model.safetensors"`);
  return Buffer.from(`{"weight_map":{${entries.join(',')}}}`);
}

/** A checkpoint of one weight file with this header, and no weights. */
function headed(header: Buffer): Record<string, string | Uint8Array> {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return {
    'config.json': String(llamaCheckpoint()['config.json']),
    'tokenizer.json': '{}',
    'model.safetensors': Buffer.concat([length, header]),
  };
}

function gguf(): Buffer {
  const file = Buffer.alloc(8 * mib);
  file.write('GGUF');
  file.writeUInt32LE(3, 4);
  file.writeBigUInt64LE(2n ** 63n, 8);
  file.writeBigUInt64LE(2n ** 63n, 16);
  return file;
}

const indexed = (bytes: Buffer): Record<string, string | Uint8Array> => ({
  ...llamaCheckpoint(),
  'model.safetensors.index.json': bytes,
});
const configured = (bytes: Buffer): Record<string, string | Uint8Array> => ({
  ...llamaCheckpoint(),
  'config.json': bytes,
});

/** Files by the name of their folder. */
export function hostileCheckpoints(): Record<string, Record<string, string | Uint8Array>> {
  return {
    'array-31': headed(arrays(31 * mib, '[', ']')),
    'arrays-31': headed(arrays(31 * mib, '{"a":[', ']}')),
    'arrays-64': headed(arrays(64 * mib, '{"a":[', ']}')),
    'shape-31': headed(arrays(31 * mib, '{"a":{"dtype":"U8","data_offsets":[0,0],"shape":[', ']}}')),
    'levels-31': headed(levels(31 * mib, '{"a":', '}')),
    'objects-31': headed(text(31 * mib, '{"a":{', '"b":{},', '"b":{}}}')),
    'metadata-64': headed(text(64 * mib, '{"__metadata__":{"a":"', 'x', '"}}')),
    'blanks-64': headed(text(64 * mib, '{', ' ', '')),
    'tensors-300000': headed(tensors(300_000, 1)),
    'tensors-700000': headed(tensors(700_000, 0)),
    'index-31': indexed(arrays(31 * mib, '{"metadata":{"a":[', ']},"weight_map":{"a":"model.safetensors"}}')),
    'index-64': indexed(arrays(64 * mib, '{"weight_map":{"a":[', ']}}')),
    'index-700000': indexed(index(700_000)),
    'config-4': configured(arrays(4 * mib - 1, '{"model_type":"llama","a":[', ']}')),
    'config-levels': configured(levels(mib, '{"model_type":"llama","a":', '}')),
    'config-31': configured(arrays(31 * mib, '{"a":[', ']}')),
    gguf: { 'model.gguf': gguf() },
  };
}
