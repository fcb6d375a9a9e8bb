// Draft models that are whole models: from the prefix cache they propose what they proposed, and near misses are refused before
// weights are read. What they propose, say and take is in drafters.test.ts.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, expect, test } from '@jest/globals';
import { cpuIsas, type EngineOptions } from '@llmservice/native';

import { only, readStoredTensors, storedFile } from '../builders/stored-tensors.js';
import { loadGolden, run } from './engine-driver.js';
import { job, modelsDir, readGolden } from './reference-bar.js';

const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const draftModel = fileURLToPath(new URL('drafters/llama-for-qwen3', import.meta.url));
const drafts = 3;
const folder = mkdtempSync(join(tmpdir(), 'llmservice-draft-models-'));
afterAll(() => rmSync(folder, { recursive: true }));

const load = (base: string, headDir: string) =>
  loadGolden(modelsDir + base, {
    ...{ isa, dtype: 'float32', threads: 1 },
    speculative: { method: 'draft_model', tokens: drafts, headDir },
  });

test('proposes from cached blocks what it proposed', async () => {
  const engine = await load('qwen3-bf16', draftModel);
  try {
    const { prompt } = readGolden('qwen3-bf16').greedy.at(-1)!;
    const proposals = async (how: { chunk: number; cached?: number }): Promise<number[][]> => {
      const all: number[][] = [];
      await run(engine, [job(0, prompt, { count: 16, ...how })], drafts, (generated, ids) => {
        // A prompt of which one token is left drafts too.
        if (generated > 0) all.push(ids);
      });
      return all;
    };
    const first = await proposals({ chunk: 64 });
    expect(first.flat().length).toBeGreaterThan(12);
    // The prompt's last token is in a block of its own.
    expect(await proposals({ chunk: 128, cached: 128 })).toEqual(first);
  } finally {
    await engine.dispose();
  }
});

/** A copy of the draft model, changed. */
function copied(name: string, change: (dir: string) => void): string {
  const dir = join(folder, name);
  cpSync(draftModel, dir, { recursive: true });
  change(dir);
  return dir;
}

const withVocabulary = (dir: string): void => {
  const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) as object;
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...config, vocab_size: 512 }));
};

const withoutTensor = (dir: string): void => {
  const tensors = only(readStoredTensors(dir), (name) => name !== 'model.layers.0.mlp.up_proj.weight');
  writeFileSync(join(dir, 'model.safetensors'), storedFile(tensors));
};

test.each([
  [
    'whose vocabulary differs',
    () => copied('vocabulary', withVocabulary),
    'InvalidEngineConfig',
    'is no draft model for this model: config.json has vocab_size 512 where the model has 320',
  ],
  [
    'of a hybrid',
    () => `${modelsDir}qwen3_5-bf16`,
    'InvalidEngineConfig',
    'is no draft model for this model: qwen3_5 keeps recurrent state',
  ],
  [
    'without a tensor',
    () => copied('incomplete', withoutTensor),
    'CheckpointIncomplete',
    'incomplete: the checkpoint has no tensor model.layers.0.mlp.up_proj.weight',
  ],
])('%s is refused before weights are read', async (_, dir, reason, message) => {
  await expect(load('qwen3-bf16', dir())).rejects.toMatchObject({
    failure: { reason, message: expect.stringContaining(message) as unknown },
  });
});
