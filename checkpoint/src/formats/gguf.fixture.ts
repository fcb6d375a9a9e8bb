// Writes GGUF files for tests: any metadata, and tensors of any type with zeros for data.

type Scalar = number | boolean | string | { readonly u64: bigint };
export type GgufFixtureValue = Scalar | readonly (number | string)[];

export interface GgufFixtureTensor {
  /** Number of the type in the format. */
  readonly type: number;
  /** Row-major. */
  readonly shape: readonly number[];
  readonly bytes: number;
}

export interface GgufFixture {
  readonly keys: Readonly<Record<string, GgufFixtureValue>>;
  readonly tensors: Readonly<Record<string, GgufFixtureTensor>>;
}

/** Numbers are u32 where they are whole, else f32; lists of numbers are of i32. */
export function ggufFile({ keys, tensors }: GgufFixture): Buffer {
  const entries = Object.entries(tensors);
  const parts = [Buffer.from('GGUF'), u32(3), u64(entries.length), u64(Object.keys(keys).length)];
  for (const [key, value] of Object.entries(keys)) parts.push(text(key), typed(value));
  let end = 0;
  for (const [name, { type, shape, bytes }] of entries) {
    parts.push(text(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(type), u64(end));
    end += aligned(bytes);
  }
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc(aligned(header.length) - header.length + end)]);
}

/** One layer in F32, with a tokenizer of ten tokens. */
export function llamaGguf(changes: Partial<GgufFixture> = {}): GgufFixture {
  const f32 = (...shape: number[]): GgufFixtureTensor => ({
    type: 0,
    shape,
    bytes: shape.reduce((product, side) => product * side, 4),
  });
  return {
    keys: {
      'general.architecture': 'llama',
      'llama.block_count': 1,
      'llama.context_length': 64,
      'llama.embedding_length': 32,
      'llama.feed_forward_length': 64,
      'llama.attention.head_count': 4,
      'llama.attention.head_count_kv': 2,
      'llama.rope.freq_base': 10000.5,
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': 'qwen2',
      'tokenizer.ggml.tokens': ['h', 'e', 'l', 'o', 'Ġ', 'w', 'he', 'll', '<|im_end|>', '[PAD9]'],
      'tokenizer.ggml.token_type': [1, 1, 1, 1, 1, 1, 1, 1, 3, 5],
      'tokenizer.ggml.merges': ['h e', 'l l'],
      'tokenizer.ggml.eos_token_id': 8,
      'tokenizer.chat_template': '{{ messages[0].content }}{{ eos_token }}',
      ...changes.keys,
    },
    tensors: {
      'token_embd.weight': f32(10, 32),
      'output_norm.weight': f32(32),
      'blk.0.attn_norm.weight': f32(32),
      'blk.0.ffn_norm.weight': f32(32),
      'blk.0.attn_q.weight': f32(32, 32),
      'blk.0.attn_k.weight': f32(16, 32),
      'blk.0.attn_v.weight': f32(16, 32),
      'blk.0.attn_output.weight': f32(32, 32),
      'blk.0.ffn_gate.weight': f32(64, 32),
      'blk.0.ffn_up.weight': f32(64, 32),
      'blk.0.ffn_down.weight': f32(32, 64),
      ...changes.tensors,
    },
  };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 32) * 32;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function typed(value: GgufFixtureValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(8), text(value)]);
  if (typeof value === 'boolean') return Buffer.concat([u32(7), Buffer.from([value ? 1 : 0])]);
  if (typeof value === 'number')
    return Number.isInteger(value) && value >= 0
      ? Buffer.concat([u32(4), u32(value)])
      : Buffer.concat([u32(6), f32(value)]);
  if ('u64' in value) return Buffer.concat([u32(10), u64(value.u64)]);
  const texts = value.every((item) => typeof item === 'string');
  const items = value.map((item) => (typeof item === 'string' ? text(item) : u32(item)));
  return Buffer.concat([u32(9), u32(texts ? 8 : 5), u64(value.length), ...items]);
}

/** Random but repeatable numbers below 2^32 (Marsaglia's xorshift). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** A copy with some bytes changed, some repeated, or its end cut off. */
export function mutated(bytes: Uint8Array, random: () => number): Buffer {
  const copy = Buffer.from(bytes);
  const interesting = [0, 1, 0x7f, 0x80, 0xff];
  for (let i = random() % 8; i >= 0; i--) {
    const at = random() % copy.length;
    copy[at] = random() % 2 === 0 ? random() : (interesting[random() % interesting.length] ?? 0);
  }
  if (random() % 4 !== 0) return copy;
  const from = random() % copy.length;
  return random() % 2 === 0
    ? copy.subarray(0, from)
    : Buffer.concat([copy.subarray(0, from), copy.subarray(random() % copy.length)]);
}
