// A GGUF checkpoint in parts against the whole file: the same plan, the reference's numbers, and the whole file's bits.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import type { Engine } from '@llmservice/native';
import { splitGguf } from '../../checkpoint/src/formats/split-gguf.fixture.js';
import { cpuReference } from './cpu-reference.js';
import { loadGolden, score } from './engine-driver.js';
import { expectGreedyOfReference, expectScoresOfReference, modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

const machine = { isa: 'auto', dtype: 'bfloat16', threads: 1 } as const;

describe.each([
  ['llama-gguf-q8_0', 3, false, ''],
  ['qwen3_5-gguf-q4_k', 4, true, ''],
  ['qwen3_moe-gguf-q8_0', 2, false, 'm-00001-of-00002.gguf'],
])('%s in %i files', (model, parts, emptyFirst, named) => {
  const { golden, bar } = cpuReference(model, machine.isa, machine.dtype);
  let dir: string;
  let engine: Engine;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'llmservice-split-'));
    const whole = readFileSync(`${modelsDir}${model}/model.gguf`);
    for (const [name, bytes] of Object.entries(splitGguf(whole, 'm', parts, { emptyFirst })))
      writeFileSync(join(dir, name), bytes);
    engine = await loadGolden(join(dir, named), machine);
  });
  afterAll(async () => {
    await engine.dispose();
    rmSync(dir, { recursive: true });
  });

  test('has the whole file’s tensors, each in the part that holds it', async () => {
    const [split, whole] = [await openCheckpoint(join(dir, named)), await openCheckpoint(modelsDir + model)];
    expect(split.shape).toEqual(whole.shape);
    const bytesOf = (
      { file, offset, bytes }: { file: string; offset: number; bytes: number },
      folder: string,
    ) => readFileSync(join(folder, file)).subarray(offset, offset + bytes);
    for (const [at, tensor] of split.tensors.entries()) {
      const same = whole.tensors[at]!;
      expect(tensor).toEqual({ ...same, file: tensor.file, offset: tensor.offset });
      expect(bytesOf(tensor, dir).equals(bytesOf(same, modelsDir + model))).toBe(true);
    }
    const files = new Set(split.tensors.map(({ file }) => file));
    expect(files.size).toBe(emptyFirst ? parts - 1 : parts);
  });

  test('gives the reference’s tokens and logprobs, and the bits of the whole file', async () => {
    await expectGreedyOfReference(engine, golden, bar);
    await expectScoresOfReference(engine, golden, bar);
    const whole = await loadGolden(modelsDir + model, machine);
    try {
      const { ids } = golden.teacherForced;
      expect(await score(engine, ids, 512)).toEqual(await score(whole, ids, 512));
    } finally {
      await whole.dispose();
    }
  });
});
