import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '../config/read-config.js';
import { qwen36Config, qwen3MoeConfig } from '../config/config.fixture.js';
import { checkMtpHead, filesWithMtp } from './mtp-head.js';
import { parseSafetensorsIndex } from '../formats/safetensors.fixture.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { misplacedHead } from './speculation.js';

const trunk = parseCheckpointConfig(qwen36Config);
const uri = 's3://models/fp8/';

function entry(name: string, dtype: string, shape: number[]): TensorEntry {
  return { name, dtype, shape, bytes: 0 };
}

/** Of the 27B's head, what is read first. */
const fc = entry('mtp.fc.weight', 'BF16', [5120, 10240]);
const kProj = entry('mtp.layers.0.self_attn.k_proj.weight', 'F8_E4M3', [1024, 5120]);

describe('the head of a paired checkpoint', () => {
  test.each([
    ['in FP8', [fc, kProj]],
    ['in NVFP4, two values to a byte', [fc, entry('mtp.layers.0.mlp.down_proj.weight', 'U8', [5120, 8704])]],
    ['in NVFP4 of another tool', [fc, entry('mtp.layers.0.mlp.down_proj.weight_packed', 'U8', [5120, 8704])]],
  ])('fits %s', (_, tensors) => {
    expect(() => checkMtpHead(uri, { shape: trunk, tensors }, trunk)).not.toThrow();
  });

  test('that is none is refused by the tensor that it lacks', () => {
    expect(() => checkMtpHead(uri, { shape: trunk, tensors: [kProj] }, trunk)).toThrow(
      /engine\.speculative\.uri s3:\/\/models\/fp8\/ .*no tensor mtp\.fc\.weight/,
    );
  });

  test('of another model is refused with everything in which it differs', () => {
    const shape = { ...trunk, vocab: 151_936 };
    const tensors = [
      entry('mtp.fc.weight', 'BF16', [2048, 4096]),
      entry('mtp.layers.0.self_attn.k_proj.weight', 'F8_E4M3', [512, 2048]),
    ];
    const check = (): void => checkMtpHead(uri, { shape, tensors }, trunk);
    expect(check).toThrow('vocab_size 151936 where the model has 248320');
    expect(check).toThrow('mtp.fc.weight has shape [2048, 4096] where the model takes [5120, 10240]');
    expect(check).toThrow(
      'mtp.layers.0.self_attn.k_proj.weight has shape [512, 2048] where the model takes [1024, 5120]',
    );
  });

  test('of a model with another number of experts is refused', () => {
    const sparse = parseCheckpointConfig(qwen3MoeConfig);
    const experts = sparse.moe?.experts ?? 0;
    const { hidden } = sparse;
    const head = (count: number) => ({
      shape: sparse,
      tensors: [
        entry('mtp.fc.weight', 'BF16', [hidden, 2 * hidden]),
        entry('mtp.layers.0.mlp.gate.weight', 'BF16', [count, hidden]),
      ],
    });
    expect(() => checkMtpHead(uri, head(experts), sparse)).not.toThrow();
    expect(() => checkMtpHead(uri, head(2 * experts), sparse)).toThrow(/mlp\.gate\.weight has shape/);
  });
});

test('of an index, the files that hold the head are wanted', () => {
  const weight_map = {
    'model.norm.weight': 'a.safetensors',
    'mtp.norm.weight': 'c.safetensors',
    'mtp.fc.weight': 'b.safetensors',
  };
  expect(filesWithMtp(parseSafetensorsIndex(Buffer.from(JSON.stringify({ weight_map }))))).toEqual([
    'b.safetensors',
    'c.safetensors',
  ]);
});

test.each([
  [{ method: 'mtp', uri } as const, null],
  [{ method: 'none' } as const, null],
  [{ method: 'none', uri } as const, expect.stringContaining('method is none of them')],
])('%j beside its method: %s', (speculative, wrong) => expect(misplacedHead(speculative)).toEqual(wrong));
