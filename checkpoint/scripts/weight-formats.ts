// The tables of the page of weight formats, in Markdown: each row is a sample that the checkpoint code reads or refuses here. Pure.

import { FailureError } from '@llmservice/crds';
import { parseQuantization } from '../src/config/quantization.js';
import { nvfp4, nvfp4Tensors } from '../src/formats/gguf-nvfp4.js';
import { ggufTypes, refusedGgufTypes } from '../src/formats/gguf-types.js';
import type { TensorEntry } from '../src/formats/safetensors-header.js';
import { checkStorage } from '../src/weights/check-storage.js';
import { inEngineForm } from '../src/weights/fused-experts.js';
import { joinPacked } from '../src/weights/packed-tensors.js';
import { rankWeightBytes } from '../src/weights/rank-weights.js';
import { type Held, residentWeights } from '../src/weights/resident-weights.js';
import { cols, rows, type RefusedSample, type Sample, type StoredSample } from './format-samples.js';

type Shape = Parameters<typeof residentWeights>[1];

const module = 'model.layers.0.self_attn.o_proj';
const experts = 'model.layers.0.mlp.experts.down_proj';
const cpu = { dtype: 'auto', quantization: 'none', speculative: { method: 'none', tokens: 0 } } as const;

/** The text between `<!-- NAME: begin -->` and `<!-- NAME: end -->` is each table's. */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [begin, end] = [`<!-- ${name}: begin -->\n`, `<!-- ${name}: end -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`the page has no place for the table ${name}`);
    return text.slice(0, from) + begin + table + text.slice(to);
  }, page);
}

export function storedTable(samples: readonly StoredSample[]): string {
  return table(
    ['stored', 'tensors of a matrix (N, K)', 'written by', 'held on the CPU, bytes per weight', 'on GPUs'],
    samples.map((sample) => {
      const { held, bytes, onGpu } = judged(sample);
      return [sample.stored, sample.tensors, sample.tools, `${held}, ${bytes}`, onGpu];
    }),
  );
}

export function ggufTable(): string {
  return table(
    ['stored', 'columns of a block', 'held on the CPU, bytes per weight', 'on GPUs'],
    [...ggufTypes.values()].map(({ name, columns }) => {
      const matrix = entry('weight', name, [rows, cols]);
      const { held, bytes, onGpu } = weighed(
        name === nvfp4.name ? nvfp4Tensors(matrix, false) : [matrix],
        'llama',
      );
      return [`GGUF ${name}`, columns === 1 ? '–' : String(columns), `${held}, ${bytes}`, onGpu];
    }),
  );
}

export function refusedTable(samples: readonly RefusedSample[]): string {
  const ofGguf = [
    'GGUF ' + refusedGgufTypes().join(', '),
    '`UnsupportedQuantization`',
    'a file made as Q8_0, Q4_K_M or F16 would do',
  ];
  return table(
    ['refused', 'reason', 'why, and what would do'],
    [...samples.map((sample) => [sample.stored, `\`${reasonOf(sample)}\``, sample.why]), ofGguf],
  );
}

interface Judged {
  readonly held: string;
  readonly bytes: string;
  readonly onGpu: string;
}

/** @throws FailureError as reading a checkpoint of such matrices does */
function judged({ parts, config, architecture: named }: Sample): Judged {
  const architecture = named ?? 'llama';
  const top = { model_type: architecture, quantization_config: config };
  parseQuantization(top);
  const stored = parts.map(([suffix, dtype, ...sides]) => entry(suffix, dtype, sides));
  const tensors = joinPacked(top, inEngineForm({ architecture }, stored));
  checkStorage(new Map(tensors.map((tensor) => [tensor.name, tensor])));
  return weighed(tensors, architecture);
}

function entry(suffix: string, dtype: string, shape: readonly number[]): TensorEntry {
  const name = suffix.startsWith('_') ? experts + suffix : `${module}.${suffix}`;
  return { name, dtype, shape, bytes: 0 };
}

function weighed(tensors: readonly TensorEntry[], architecture: string): Judged {
  const layerKinds = ['full'] as const;
  const shape = {
    architecture,
    quantization: 'gguf',
    tiedEmbeddings: false,
    layerKinds,
  } as Partial<Shape> as Shape;
  const weights = residentWeights(tensors, shape, cpu);
  const held = weights.matrices[0]?.parts[0]?.held;
  if (held === undefined || weights.vectors.length > 0) {
    throw new Error(`a sample is not one matrix: ${JSON.stringify(tensors)}`);
  }
  const [bytes, onGpu] = [false, true].map((onDevice) =>
    perWeight(held, rankWeightBytes(weights, { rank: 0, size: 1, kvHeads: 1, onGpu: onDevice })),
  ) as [string, string];
  return { held: nameOf(held), bytes, onGpu };
}

const names: Partial<Record<Held, string>> = {
  ...{ float32: 'F32', bfloat16: 'BF16', float16: 'F16', nvfp4: 'NVFP4', int8: 'INT8 by row' },
  ...{ fp8Block: 'FP8 by block', fp8Row: 'FP8 by row' },
};

const nameOf = (held: Held): string => names[held] ?? held;

/** A float for each row is written as such; blocks of 32 as fractions. */
function perWeight(held: Held, bytes: number): string {
  const all = bytes / (rows * cols);
  const byRow = ['fp8Row', 'int8', 'nvfp4'].includes(held);
  const rest = byRow ? all - 4 / cols : all;
  const sixteenths = rest * 32;
  const text = Number.isInteger(sixteenths) ? fraction(sixteenths, 32) : rest.toFixed(3);
  return byRow ? `${text} + 4/K` : text;
}

function fraction(over: number, under: number): string {
  const whole = Math.floor(over / under);
  const rest = over - whole * under;
  if (rest === 0) return String(whole);
  const shared = gcd(rest, under);
  return `${whole === 0 ? '' : `${String(whole)} + `}${String(rest / shared)}/${String(under / shared)}`;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function reasonOf(sample: RefusedSample): string {
  try {
    judged(sample);
  } catch (error) {
    if (error instanceof FailureError) return error.reason;
    throw error;
  }
  throw new Error(`${sample.stored} is read, although it is listed as refused`);
}

/** Of Markdown. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return line(head) + `|${'---|'.repeat(head.length)}\n` + body.map(line).join('');
}
