// LoRA adapters of random weights for a checkpoint, as PEFT writes them.

import { projections, projectionSides, type ModelShape } from '@llmservice/checkpoint';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Random {
  readonly rank: number;
  readonly seed: number;
}

/** Writes one of all linear layers to `folder`. */
export async function writeRandomAdapter(checkpoint: string, folder: string, random: Random): Promise<void> {
  const { shape } = await openCheckpoint(checkpoint);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(randomAdapter(shape, random))) {
    writeFileSync(join(folder, name), content);
  }
}

/** The files of one of all linear layers. */
export function randomAdapter(
  shape: ModelShape,
  { rank, seed }: Random,
): Record<'adapter_config.json' | 'adapter_model.safetensors', string | Uint8Array> {
  const header: Record<string, object> = {};
  const parts: Float32Array[] = [];
  let bytes = 0;
  let state = seed;
  const add = (name: string, sides: readonly [number, number]): void => {
    const values = Float32Array.from({ length: sides[0] * sides[1] }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32 - 0.5;
    });
    header[name] = { dtype: 'F32', shape: sides, data_offsets: [bytes, bytes + values.byteLength] };
    bytes += values.byteLength;
    parts.push(values);
  };
  for (const layer of shape.layerKinds.keys()) {
    for (const projection of projections) {
      const sides = projectionSides(shape, layer, projection);
      if (sides === null) continue;
      const block = ['q_proj', 'k_proj', 'v_proj', 'o_proj'].includes(projection) ? 'self_attn' : 'mlp';
      const module = `base_model.model.model.layers.${String(layer)}.${block}.${projection}`;
      add(`${module}.lora_A.weight`, [rank, sides.inputs]);
      add(`${module}.lora_B.weight`, [sides.outputs, rank]);
    }
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const config = { peft_type: 'LORA', r: rank, lora_alpha: rank, target_modules: projections };
  const data = parts.map(({ buffer }) => Buffer.from(buffer));
  return {
    'adapter_config.json': JSON.stringify(config),
    'adapter_model.safetensors': Buffer.concat([length, text, ...data]),
  };
}
