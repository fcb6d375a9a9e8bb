// GGUF's block type Q4_1 as BF16. A block of 20 bytes holds 32 values: scale d and minimum m in F16, then 16 bytes of codes, whose
// low nibbles are values 0 to 15 and whose high nibbles are values 16 to 31. A value is d * code + m in float32, here rounded
// to the nearest BF16, ties to even. Source: ggml, src/ggml-common.h (block_q4_1) and src/ggml-quants.c (dequantize_row_q4_1).

export const q41Columns = 32;
export const q41Bytes = 20;

/** @param blocks whole blocks. @returns the values in order, 2 bytes each, in this machine's byte order (little-endian) */
export function q41ToBf16(blocks: Uint8Array): Uint16Array {
  const count = blocks.length / q41Bytes;
  if (!Number.isInteger(count)) throw new Error(`${blocks.length} bytes are no whole blocks of ${q41Bytes}`);
  const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  const values = new Uint16Array(count * q41Columns);
  const byCode = new Uint16Array(16);
  for (let block = 0; block < count; block++) {
    const at = block * q41Bytes;
    const scale = fromF16(view.getUint16(at, true));
    const minimum = fromF16(view.getUint16(at + 2, true));
    // The product has 15 significant bits, so that the sum alone rounds, as it does in float32.
    for (let code = 0; code < 16; code++) byCode[code] = toBf16(scale * code + minimum);
    for (let i = 0; i < 16; i++) {
      const codes = view.getUint8(at + 4 + i);
      values[block * q41Columns + i] = byCode[codes & 15] ?? 0;
      values[block * q41Columns + 16 + i] = byCode[codes >> 4] ?? 0;
    }
  }
  return values;
}

function fromF16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const float = new Float32Array(1);
const floatBits = new Uint32Array(float.buffer);

/** Of the nearest float32, ties to even in both steps. */
function toBf16(value: number): number {
  float[0] = value;
  const bits = floatBits[0] ?? 0;
  // NaN has a bit of its fraction set that is kept.
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
