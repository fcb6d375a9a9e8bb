// Whole checkpoints, the golden ones and damaged copies: what `plan` and the operator's status say of a folder, `serve` says too,
// in the same words, down to the native engine's own load.

import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLocalModel } from '@llmservice/checkpoint/local';
import { loadEngine } from '@llmservice/native';
import { FolderFiles } from '../../operator/src/cli/folder-files.js';
import { readCheckpoint } from '../../operator/src/preflight/read-checkpoint.js';
import { readTokenizerText } from '../../runtime/src/checkpoint/read-text-files.js';
import { failureOf } from '../../runtime/src/engine/failure-of.js';
import { planEngine } from '../../runtime/src/engine/plan-engine.js';
import { FolderSource } from '../../runtime/src/weights/folder-source.js';
import { inspectCheckpoint } from '../../runtime/src/weights/inspect-checkpoint.js';
import { demoCheckpoint } from '../integration/replica-process.js';
import { engineSettings } from '../integration/engine-settings.js';
import {
  anyDamages,
  dataDamages,
  ggufDamages,
  scaleDamages,
  shardedDamages,
  singleDamages,
  splitGgufDamages,
  type Damage,
} from './checkpoint-damages.js';
import { modelsDir } from './golden-values.js';

const speculative = { method: 'none', tokens: 0 } as const;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-whole-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** What a folder is found to be; `kind` is the message without its paths. */
type Verdict = 'sound' | { readonly reason: string; readonly kind: string };

/** A folder of a bucket and one of a disk are listed in different words. */
const listings = [
  /no config\.json/,
  /checkpoints in GGUF/,
  /tokenizer\.json/,
  /weight files: model\.safetensors|\.safetensors file|weights in/,
];

async function verdictOf(judge: () => Promise<unknown>): Promise<Verdict> {
  try {
    await judge();
    return 'sound';
  } catch (error) {
    const { reason, message } = failureOf(error);
    const kind = listings.find((each) => each.test(message))?.source ?? message.replaceAll(`${dir}/`, '');
    return { reason, kind };
  }
}

const plan = (): Promise<Verdict> =>
  verdictOf(() =>
    readCheckpoint(new FolderFiles(dir), null, {
      accelerator: 'cpu',
      dtype: 'auto',
      quantization: 'none',
      speculative,
    }),
  );

const serve = (): Promise<Verdict> =>
  verdictOf(async () => {
    const source = new FolderSource(dir, 'refused');
    const { gguf: file } = await inspectCheckpoint(source, null, (read) => read());
    const model = file === null ? dir : join(dir, file);
    const { gguf } = await openLocalModel(model);
    await readTokenizerText(dir, gguf);
    const options = await planEngine(engineSettings(model, { speculative }));
    const engine = await loadEngine(options, () => undefined);
    await engine.dispose();
  });

function copy(model: string, damage: Damage = () => undefined): void {
  for (const file of readdirSync(modelsDir + model)) {
    if (/^config\.json$|\.safetensors|\.gguf$/.test(file))
      cpSync(`${modelsDir}${model}/${file}`, join(dir, file));
  }
  cpSync(join(demoCheckpoint, 'tokenizer.json'), join(dir, 'tokenizer.json'));
  damage(dir);
}

test.each(readdirSync(modelsDir))('%s is accepted', async (model) => {
  copy(model);
  expect([await plan(), await serve()]).toEqual(['sound', 'sound']);
});

describe.each([
  ['llama-bf16', { ...anyDamages, ...singleDamages }],
  ['qwen3-bf16', { ...anyDamages, ...shardedDamages }],
  ['qwen3_5-bf16', { ...anyDamages, ...shardedDamages }],
  ['llama-gguf-q8_0', { ...ggufDamages, ...splitGgufDamages }],
])('%s', (model, damages) => {
  test.each(Object.entries(damages))('%s is refused in the same words', async (_, damage) => {
    copy(model, damage);
    const verdict = await plan();
    expect(verdict).not.toBe('sound');
    expect(await serve()).toEqual(verdict);
  });
});

test.each(scaleDamages)('%s %s is refused in the same words', async (model, _, damage) => {
  copy(model, damage);
  const verdict = await plan();
  expect(verdict).not.toBe('sound');
  expect(await serve()).toEqual(verdict);
});

test.each(dataDamages)('%s %s is refused by who reads it', async (model, _, tensor, damage) => {
  copy(model, damage);
  expect(await plan()).toBe('sound');
  expect(await serve()).toMatchObject({
    reason: 'CheckpointCorrupt',
    kind: expect.stringMatching(tensor) as unknown,
  });
});
