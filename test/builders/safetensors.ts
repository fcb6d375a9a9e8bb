// Safetensors files for tests: the header's length (8 bytes), the header (JSON), then the tensors without gaps.

interface TensorSpec {
  readonly dtype: 'BF16' | 'F32' | 'F8_E4M3';
  readonly shape: readonly number[];
}

export type Tensors = Readonly<Record<string, TensorSpec>>;

const dtypeBytes = { BF16: 2, F32: 4, F8_E4M3: 1 } as const;

export const bf16Tensor = (...shape: number[]): TensorSpec => ({ dtype: 'BF16', shape });

/** All that precedes the tensors, and how many bytes these are. */
export function safetensorsHead(tensors: Tensors): { head: Uint8Array; dataBytes: number } {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, { dtype, shape }]) => {
    const begin = end;
    end += shape.reduce((product, side) => product * side, dtypeBytes[dtype]);
    return [name, { dtype, shape, data_offsets: [begin, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return { head: Buffer.concat([length, header]), dataBytes: end };
}

/** @param data what the tensors are filled with, again and again; zeros by default */
export function safetensors(tensors: Tensors, data: Uint8Array = Buffer.alloc(1)): Uint8Array {
  const { head, dataBytes } = safetensorsHead(tensors);
  return Buffer.concat([head, Buffer.alloc(dataBytes, data)]);
}

/** Values of 0.008 to 0.06 of either sign; their number, a prime, shares no factor with the width of any matrix. */
export function bf16Noise(): Uint8Array {
  const values = Uint16Array.from({ length: 65_537 }, (_, i) => {
    const noise = Math.imul(i + 1, 0x9e3779b1) >>> 16;
    return ((noise & 1) << 15) | (0x3c00 + ((noise >> 1) % 0x180));
  });
  return Buffer.from(values.buffer);
}
