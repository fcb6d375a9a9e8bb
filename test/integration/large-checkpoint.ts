// A checkpoint of zeros that takes a second or so to load: a sparse file, which costs no disk.

import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llamaConfig, llamaTensors } from '../builders/llama.js';
import { safetensorsHead } from '../builders/safetensors.js';

const size = { layers: 8, hidden: 2048, heads: 16, kvHeads: 4, headDim: 128, ffn: 8192, vocab: 1024 };

/** Writes config.json and model.safetensors of a llama of about 800 MB. */
export function writeLargeCheckpoint(dir: string): void {
  writeFileSync(join(dir, 'config.json'), JSON.stringify(llamaConfig(size)));
  const weights = join(dir, 'model.safetensors');
  const { head, dataBytes } = safetensorsHead(llamaTensors(size));
  writeFileSync(weights, head);
  truncateSync(weights, head.byteLength + dataBytes);
}
