// Copies of a checkpoint with single values of its tensors changed, as a bad disk, download or conversion would.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Upper halves of floats: what BF16 keeps. */
export const bf16 = { nan: 0x7fc0, infinity: 0x7f80 } as const;

export interface Damage {
  /** Name of a BF16 tensor. */
  readonly tensor: string;
  /** Index of the value in the tensor. */
  readonly index: number;
  /** Bits of its new value. */
  readonly bits: number;
}

/** Folder of a damaged copy; to be removed by `discard`. */
export function damagedCheckpoint(modelDir: string, damages: readonly Damage[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'llmservice-damaged-'));
  cpSync(modelDir, copy, { recursive: true });
  for (const damage of damages) apply(copy, damage);
  return copy;
}

export function discard(copy: string): void {
  rmSync(copy, { recursive: true });
}

function apply(folder: string, { tensor, index, bits }: Damage): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.safetensors'))) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const headerEnd = 8 + Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString('utf8', 8, headerEnd)) as Record<
      string,
      { dtype: string; data_offsets: [number, number] }
    >;
    const entry = header[tensor];
    if (entry === undefined) continue;
    if (entry.dtype !== 'BF16') throw new Error(`${tensor} is ${entry.dtype}, and only BF16 can be damaged`);
    bytes.writeUInt16LE(bits, headerEnd + entry.data_offsets[0] + 2 * index);
    writeFileSync(path, bytes);
    return;
  }
  throw new Error(`no file of ${folder} has ${tensor}`);
}
