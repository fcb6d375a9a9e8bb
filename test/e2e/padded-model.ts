// Models whose last shard also holds a large vision tensor: a pull that lasts long enough to be interrupted, or that no
// disk can take. A text model skips the tensor when it loads, but not the shard when it is pulled.

import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../builders/files.js';
import { bucket, shardsOf, upload } from './bucket.js';
import { repository } from './cluster.js';

const tensor = 'model.visual.padding';
const indexName = 'model.safetensors.index.json';

export function paddedModel(files: Files, paddingBytes: number): Files {
  const shard = lastShard(files);
  const announced = announcePadding(files, paddingBytes);
  return { ...announced, [shard]: Buffer.concat([announced[shard]!, Buffer.alloc(paddingBytes)]) };
}

/** Uploads the model with padding that takes no room: the S3 server's file gets its length and no content. */
export async function uploadSparse(prefix: string, files: Files, paddingBytes: number): Promise<string> {
  const shard = lastShard(files);
  const announced = announcePadding(files, paddingBytes);
  const uri = await upload(prefix, announced);
  const stored = join(repository, '.local/cluster/s3', bucket, prefix, shard);
  truncateSync(stored, announced[shard]!.byteLength + paddingBytes);
  return uri;
}

const lastShard = (files: Files): string => shardsOf(files).at(-1) ?? '';

/** The model as if the padding followed the last shard's tensors. */
function announcePadding(files: Files, paddingBytes: number): Files {
  const shard = lastShard(files);
  const index = JSON.parse(text(files[indexName])) as { weight_map: object };
  return {
    ...files,
    [shard]: announceTensor(files[shard] ?? new Uint8Array(), paddingBytes),
    [indexName]: Buffer.from(
      JSON.stringify({ ...index, weight_map: { ...index.weight_map, [tensor]: shard } }),
    ),
  };
}

/** A safetensors file: the header's length (8 bytes), the header (JSON), then the tensors' bytes. */
function announceTensor(content: Uint8Array, bytes: number): Uint8Array {
  const headerBytes = Number(Buffer.from(content).readBigUInt64LE());
  const tensors = content.subarray(8 + headerBytes);
  const padding = {
    dtype: 'BF16',
    shape: [bytes / 2],
    data_offsets: [tensors.length, tensors.length + bytes],
  };
  const header = JSON.parse(text(content.subarray(8, 8 + headerBytes))) as object;
  const newHeader = Buffer.from(JSON.stringify({ ...header, [tensor]: padding }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(newHeader.byteLength));
  return Buffer.concat([length, newHeader, tensors]);
}

const text = (content: Uint8Array = new Uint8Array()): string => Buffer.from(content).toString('utf8');
