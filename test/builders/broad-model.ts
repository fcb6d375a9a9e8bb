// A checkpoint whose feed-forward is padded with zeros: it says the same, and a step of it reads what a larger model's does.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStoredTensors, storedFile, type StoredTensors } from './stored-tensors.js';

interface NestedConfig {
  readonly text_config: { readonly intermediate_size: number };
}

/** Folder of a copy whose feed-forward is `factor` times as wide; to be removed. */
export function writeBroadModel(modelDir: string, factor: number): string {
  const copy = mkdtempSync(join(tmpdir(), 'llmservice-broad-'));
  cpSync(modelDir, copy, { recursive: true });
  const config = JSON.parse(readFileSync(join(copy, 'config.json'), 'utf8')) as NestedConfig;
  const { text_config: text } = config;
  const broad = { ...config, text_config: { ...text, intermediate_size: factor * text.intermediate_size } };
  writeFileSync(join(copy, 'config.json'), JSON.stringify(broad));
  for (const name of readdirSync(copy).filter((each) => each.includes('.safetensors')))
    rmSync(join(copy, name));
  writeFileSync(join(copy, 'model.safetensors'), storedFile(broadened(readStoredTensors(modelDir), factor)));
  return copy;
}

/** Weights and their scales alike. */
function broadened(tensors: StoredTensors, factor: number): StoredTensors {
  return new Map(
    [...tensors].map(([name, tensor]) => {
      const { dtype, shape, data } = tensor;
      const [rows = 0, columns = 0] = shape;
      if (/\.mlp\.(gate|up)_proj\./.test(name))
        return [name, { dtype, shape: [rows * factor, columns], data: longer(data, factor) }];
      if (!name.includes('.mlp.down_proj.')) return [name, tensor];
      const row = data.byteLength / rows;
      const wide = Array.from({ length: rows }, (_, i) =>
        longer(data.subarray(i * row, (i + 1) * row), factor),
      );
      return [name, { dtype, shape: [rows, columns * factor], data: Buffer.concat(wide) }];
    }),
  );
}

const longer = (data: Buffer, factor: number): Buffer => Buffer.concat([data], factor * data.byteLength);
