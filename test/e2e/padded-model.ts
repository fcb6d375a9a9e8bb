// A model whose last shard also holds a large vision tensor, so that its pull lasts long enough to be interrupted. A
// text model skips the tensor when it loads, but not the shard when it is pulled.

import { shardsOf, type Files } from './bucket.js';

const paddingBytes = 768 * 1024 * 1024;
const tensor = 'model.visual.padding';
const indexName = 'model.safetensors.index.json';

export function paddedModel(files: Files): Files {
  const shard = shardsOf(files).at(-1) ?? '';
  const index = JSON.parse(text(files[indexName])) as { weight_map: object };
  return {
    ...files,
    [shard]: padShard(files[shard] ?? new Uint8Array()),
    [indexName]: Buffer.from(
      JSON.stringify({ ...index, weight_map: { ...index.weight_map, [tensor]: shard } }),
    ),
  };
}

/** A safetensors file: the header's length (8 bytes), the header (JSON), then the tensors' bytes. */
function padShard(content: Uint8Array): Uint8Array {
  const headerBytes = Number(Buffer.from(content).readBigUInt64LE());
  const tensors = content.subarray(8 + headerBytes);
  const padding = {
    dtype: 'BF16',
    shape: [paddingBytes / 2],
    data_offsets: [tensors.length, tensors.length + paddingBytes],
  };
  const header = JSON.parse(text(content.subarray(8, 8 + headerBytes))) as object;
  const newHeader = Buffer.from(JSON.stringify({ ...header, [tensor]: padding }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(newHeader.byteLength));
  return Buffer.concat([length, newHeader, tensors, Buffer.alloc(paddingBytes)]);
}

const text = (content: Uint8Array = new Uint8Array()): string => Buffer.from(content).toString('utf8');
