import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { otherBase } from './other-base.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-base-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test.each([
  ['another repository', 'Qwen/Qwen3-8B', 'hf://Qwen/Qwen3-4B', 'Qwen/Qwen3-8B'],
  ['the same', 'Qwen/Qwen3-8B', 'hf://qwen/Qwen3-8B@main', null],
  ['a path of the trainer’s machine', '/data/qwen3', 'hf://Qwen/Qwen3-8B', null],
  ['a path below where it was trained', './out/qwen3', 'hf://Qwen/Qwen3-8B', null],
  ['a path of two parts', './qwen3', 'hf://Qwen/Qwen3-8B', null],
  ['a path beside it', '../qwen3', 'hf://Qwen/Qwen3-8B', null],
  ['a folder with a step', 'a/b/checkpoint-500', 'hf://Qwen/Qwen3-8B', null],
  ['none', undefined, 'hf://Qwen/Qwen3-8B', null],
  ['a model that is in S3', 'Qwen/Qwen3-8B', 's3://models/qwen3/', null],
])('a base that is %s', async (_name, base, model, found) => {
  writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify({ base_model_name_or_path: base }));
  expect(await otherBase(folder, model)).toBe(found);
});

test('files that are not there, or no JSON, say nothing', async () => {
  expect(await otherBase(folder, 'hf://o/n')).toBeNull();
  writeFileSync(join(folder, 'adapter_config.json'), '{');
  expect(await otherBase(folder, 'hf://o/n')).toBeNull();
});
