// A model with one more, large shard, so that its pull lasts long enough to be interrupted. The shard holds a vision
// tensor, which a text model skips when it loads.

import type { Files } from './bucket.js';

const paddingBytes = 768 * 1024 * 1024;
const shard = 'model-padding.safetensors';

export function paddedModel(files: Files): Files {
  const tensor = 'model.visual.padding';
  const header = Buffer.from(
    JSON.stringify({ [tensor]: { dtype: 'BF16', shape: [paddingBytes / 2], data_offsets: [0, paddingBytes] } }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  const name = 'model.safetensors.index.json';
  const index = JSON.parse(Buffer.from(files[name] ?? '').toString('utf8')) as { weight_map: object };
  return {
    ...files,
    [shard]: Buffer.concat([length, header, Buffer.alloc(paddingBytes)]),
    [name]: Buffer.from(JSON.stringify({ ...index, weight_map: { ...index.weight_map, [tensor]: shard } })),
  };
}
