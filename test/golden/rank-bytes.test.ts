// The planner's bytes per rank from the headers of checkpoints of real shapes, 0.6B to 480B, against the numbers that
// generate/rank_bytes.py computes by walking the model as the engine does.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import {
  parseCheckpointConfig,
  residentWeights,
  validTensorParallel,
  weightBytesByRank,
  type HoldOptions,
  type ModelShape,
  type ResidentWeights,
  type TensorEntry,
} from '@llmservice/checkpoint';

import { readCheckpoint } from '../../operator/src/preflight/read-checkpoint.js';
import type { CheckpointFiles, FileRange } from '../../operator/src/preflight/read-safetensors.js';

type Folded = [name: string, dtype: string, shape: number[], layers: string, experts: string];
type Stored = Pick<TensorEntry, 'name' | 'dtype' | 'shape'>;

interface RealCheckpoint {
  readonly name: string;
  readonly weights: string;
  readonly options: Pick<HoldOptions, 'dtype' | 'quantization'> & { readonly drafts: boolean };
  readonly config: object;
  readonly tensors: readonly Folded[];
  readonly digest: string;
  /** Of every rank where they differ, else of each. */
  readonly bytesByRanks: Readonly<Record<string, number | readonly number[]>>;
}

const checkpoints = JSON.parse(
  readFileSync(new URL('rank-bytes.json', import.meta.url), 'utf8'),
) as RealCheckpoint[];

/** "0-2,4-4" as numbers; none as one place that no name has. */
function placesIn(ranges: string): number[] {
  if (ranges === '') return [-1];
  return ranges.split(',').flatMap((range) => {
    const [first = 0, last = 0] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

function unfolded(folded: readonly Folded[]): Stored[] {
  return folded.flatMap(([pattern, dtype, shape, layers, experts]) =>
    placesIn(layers).flatMap((layer) =>
      placesIn(experts).map((expert) => ({
        name: pattern.replace('{layer}', String(layer)).replace('{expert}', String(expert)),
        dtype,
        shape,
      })),
    ),
  );
}

function digestOf(tensors: readonly Stored[]): string {
  const lines = tensors.map(({ name, dtype, shape }) => `${name} ${dtype} ${shape.join()}`);
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 16);
}

const elementBytes = new Map(
  Object.entries({ F32: 4, BF16: 2, F16: 2, F8_E4M3: 1, U8: 1, I8: 1, I32: 4, I64: 8 }),
) as ReadonlyMap<string, number>;

/** As transformers splits a checkpoint by default. */
const maxShardBytes = 50e9;

interface Shard {
  readonly header: Record<
    string,
    { dtype: string; shape: readonly number[]; data_offsets: [number, number] }
  >;
  dataBytes: number;
}

function shardsOf(tensors: readonly Stored[]): Shard[] {
  const shards: Shard[] = [{ header: {}, dataBytes: 0 }];
  for (const { name, dtype, shape } of tensors) {
    const bytes = shape.reduce((product, side) => product * side, elementBytes.get(dtype)!);
    if (shards.at(-1)!.dataBytes + bytes > maxShardBytes) shards.push({ header: {}, dataBytes: 0 });
    const shard = shards.at(-1)!;
    const begin = shard.dataBytes;
    shard.dataBytes += bytes;
    shard.header[name] = { dtype, shape, data_offsets: [begin, shard.dataBytes] };
  }
  return shards;
}

function headerOf({ header }: Shard): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.byteLength));
  return Buffer.concat([length, json]);
}

/** A folder as it is published, whose weight files have headers and, as far as their sizes show, data. */
function folderOf(config: object, tensors: readonly Stored[]): CheckpointFiles {
  const shards = shardsOf(tensors).map((shard, index) => ({
    ...shard,
    file: `model-${index + 1}.safetensors`,
  }));
  const map = Object.fromEntries(
    shards.flatMap(({ file, header }) => Object.keys(header).map((name) => [name, file])),
  );
  const small = {
    'config.json': config,
    'tokenizer.json': {},
    'model.safetensors.index.json': { weight_map: map },
  };
  const files = new Map([
    ...Object.entries(small).map(([file, content]) => {
      const bytes = Buffer.from(JSON.stringify(content));
      return [file, { bytes, fileBytes: bytes.byteLength }] as const;
    }),
    ...shards.map((shard) => {
      const bytes = headerOf(shard);
      return [shard.file, { bytes, fileBytes: bytes.byteLength + shard.dataBytes }] as const;
    }),
  ]);
  const read = (file: string, maxBytes: number, beginAt = 0): Promise<FileRange | null> => {
    const found = files.get(file);
    if (found === undefined) return Promise.resolve(null);
    const bytes = found.bytes.subarray(beginAt, beginAt + maxBytes);
    return Promise.resolve({ bytes, fileBytes: found.fileBytes, etag: file });
  };
  const list = [...files.keys()].map((name) => ({ name, bytes: 0, version: null }));
  return { read, readOptional: read, list: () => Promise.resolve(list) };
}

/** By the reads of the operator's preflight; of a GGUF file by its entries, since they have no such container. */
async function planned(
  { weights, config, options }: RealCheckpoint,
  tensors: readonly Stored[],
): Promise<{ shape: ModelShape; weights: ResidentWeights }> {
  const { dtype, quantization, drafts } = options;
  const held = {
    accelerator: 'cpu',
    dtype,
    quantization,
    speculative: { method: drafts ? 'mtp' : 'none', tokens: 1 },
  } as const;
  if (!weights.startsWith('GGUF'))
    return (await readCheckpoint(folderOf(config, tensors), null, held)).model!;
  const shape: ModelShape = { ...parseCheckpointConfig(config), quantization: 'gguf' };
  const entries = tensors.map((tensor) => ({ ...tensor, bytes: 0 }));
  return { shape, weights: residentWeights(entries, shape, held) };
}

test('there are at least 30, of every format', () => {
  expect(checkpoints.length).toBeGreaterThanOrEqual(30);
  expect(new Set(checkpoints.map(({ weights }) => weights))).toEqual(
    new Set([
      ...[
        'GPTQ',
        'GPTQ 8 bits',
        'GPTQ act-order',
        'AWQ',
        'W4A16',
        'W8A8',
        'BF16',
        'F16',
        'FP8 block',
        'FP8 tensor',
        'FP8 channel',
        'NVFP4',
        'NVFP4 and FP8',
        'NVFP4 and head',
        'NVFP4 modelopt',
        'MXFP4 experts',
        'NVFP4 experts',
      ],
      ...['GGUF Q8_0', 'GGUF Q4_0', 'GGUF Q4_K_M'],
    ]),
  );
});

describe.each(checkpoints.map((checkpoint) => [checkpoint.name, checkpoint] as const))(
  '%s',
  (_name, checkpoint) => {
    test('has these bytes on every rank, for every number of ranks that divides it', async () => {
      const tensors = unfolded(checkpoint.tensors);
      expect(digestOf(tensors)).toBe(checkpoint.digest);
      const { shape, weights } = await planned(checkpoint, tensors);
      const counted = validTensorParallel(shape, weights).map((size) => {
        const bytes = weightBytesByRank(weights, size, shape.kvHeads);
        return [String(size), new Set(bytes).size > 1 ? bytes : bytes[0]];
      });
      expect(Object.fromEntries(counted)).toEqual(checkpoint.bytesByRanks);
    });
  },
);
