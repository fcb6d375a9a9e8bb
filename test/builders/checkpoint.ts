// Small checkpoints for tests: files as they lie in a bucket, of any architecture, with random-free contents.

interface TensorSpec {
  readonly dtype: 'BF16' | 'F32' | 'F8_E4M3';
  readonly shape: readonly number[];
}

const dtypeBytes = { BF16: 2, F32: 4, F8_E4M3: 1 } as const;

/** A safetensors file of zeros. */
export function safetensors(tensors: Readonly<Record<string, TensorSpec>>): Uint8Array {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, { dtype, shape }]) => {
    const begin = end;
    end += shape.reduce((product, side) => product * side, dtypeBytes[dtype]);
    return [name, { dtype, shape, data_offsets: [begin, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return Buffer.concat([length, header, Buffer.alloc(end)]);
}

export const llamaConfig = {
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  vocab_size: 256,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
};

type Files = Record<string, string | Uint8Array>;

/** A llama checkpoint of two shards with an index. */
export function llamaCheckpoint(config: object = {}): Files {
  const first = { 'model.embed_tokens.weight': { dtype: 'BF16', shape: [256, 64] } } as const;
  const second = { 'model.norm.weight': { dtype: 'BF16', shape: [64] } } as const;
  const [a, b] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  const weight_map = { 'model.embed_tokens.weight': a, 'model.norm.weight': b };
  return {
    'config.json': JSON.stringify({ ...llamaConfig, ...config }),
    'tokenizer.json': '{}',
    'model.safetensors.index.json': JSON.stringify({ metadata: { total_size: 32896 }, weight_map }),
    [a]: safetensors(first),
    [b]: safetensors(second),
  };
}
