// What the CPU is held to: transformers as it is, or with activations rounded where the instruction family rounds them.

import { readFileSync } from 'node:fs';

import type { EngineOptions } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import { type Bar, bars, type Golden, modelsDir, readGolden } from './golden-values.js';

/** Those that round activations to bfloat16; which products tiles add makes no difference to the bar. */
const rounding: readonly (string | undefined)[] = ['avx512bf16', 'amx'];

/** Weights that are kept in float32 meet activations in float32 in every family. */
export function cpuReference(
  model: string,
  isa: EngineOptions['isa'],
  dtype: 'bfloat16' | 'float32',
): { readonly golden: Golden; readonly bar: Bar } {
  const family = isa === 'auto' ? cpuIsas().at(-1) : isa;
  if (dtype === 'float32' || !rounding.includes(family))
    return { golden: readGolden(model), bar: bars[dtype] };
  const golden = JSON.parse(readFileSync(`${modelsDir}${model}/on-cpu.json`, 'utf8')) as Golden;
  return { golden, bar: bars.rounded };
}
