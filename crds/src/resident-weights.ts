// How many bytes a checkpoint's tensors take once the engine holds them, to the byte on one rank of the CPU backend.
// It differs from the files' size: parts that are not run are skipped, matrices that run together are packed as one,
// in panels of 64 rows, with their scales spread out for the kernels, and vectors are widened to float32.

import type { ModelShape } from './checkpoint.js';
import { FailureError } from './failures.js';
import { blockType } from './gguf-types.js';
import { isQuantizedAtLoad, type LoadQuantization } from './quantization.js';
import type { TensorEntry } from './safetensors.js';
import type { Speculative } from './speculation.js';

/** `auto` is bfloat16. The type of the KV cache and of unquantized matrices in memory. */
export type EngineDtype = 'auto' | 'bfloat16' | 'float32';

/** How matrices are held that the checkpoint does not quantize. */
export interface HoldOptions {
  readonly dtype: EngineDtype;
  readonly quantization: LoadQuantization;
  readonly speculative: Speculative;
}

/** What the engine holds of a matrix. */
type Held = 'float32' | 'bfloat16' | 'float16' | 'fp8Block' | 'fp8Row' | 'int8' | 'nvfp4' | BlockTypeName;
type BlockTypeName = 'Q8_0' | 'Q4_0' | 'Q4_K' | 'Q6_K';

/** Rows that are packed together, one after the other. */
interface Run {
  rows: number;
  readonly held: Held;
}

/** One of the stored matrices that the engine packs as one, and where among them. */
interface Part extends Readonly<Run> {
  readonly place: number;
}

interface FusedMatrix {
  /** Of a stack, how many. */
  readonly copies: number;
  readonly cols: number;
  readonly parts: Part[];
}

export function dtypeBytes(dtype: EngineDtype): number {
  return dtype === 'float32' ? 4 : 2;
}

/** Vision towers and rotary tables are in the file but not held. */
const skipped =
  /^(model\.visual\.|visual\.|model\.vision_tower\.)|rotary_emb\.inv_freq$|^rope_freqs\.weight$/;
/** Scales are counted with their matrix; those of activations and of the KV cache are not read. */
const scale =
  /\.(weight_scale|weight_scale_inv|weight_scale_2|weight_global_scale|[a-z_]*input_(global_)?scale|[qkv]_scale)$|\.experts\.(gate_up|down)_proj_scale(_inv)?$/;
const matrix = /^(.*)\.weight(_packed)?$/;

/** Matrices of all experts in one tensor, as BF16 releases of qwen3_5_moe and GGUF files have them. */
const stackedExperts = /\.experts\.(gate_up|down|gate|up)_proj$/;

/**
 * Bytes of packed weights over all ranks.
 * @throws FailureError UnsupportedQuantization
 */
export function residentWeightBytes(
  tensors: Iterable<TensorEntry>,
  shape: ModelShape,
  options: HoldOptions,
): number {
  // Of a checkpoint that is quantized already, the engine leaves the rest alone.
  const atLoad = shape.quantization === 'none' ? options.quantization : 'none';
  const byName = new Map(Array.from(tensors, (tensor) => [tensor.name, tensor] as const));
  const fused = new Map<string, FusedMatrix>();
  let total = 0;
  for (const tensor of byName.values()) {
    if (skipped.test(tensor.name) || scale.test(tensor.name)) continue;
    if (tensor.name.startsWith('mtp.') && options.speculative.method !== 'mtp') continue;
    // A tied table is held once; some releases store the head as well.
    if (shape.tiedEmbeddings && tensor.name === 'lm_head.weight') continue;
    const isStack = stackedExperts.test(tensor.name);
    const module = isStack
      ? tensor.name
      : tensor.shape.length === 2
        ? matrix.exec(tensor.name)?.[1]
        : undefined;
    if (module === undefined) {
      total += tensor.shape.reduce((product, side) => product * side, 4);
      continue;
    }
    const base = isStack ? tensor.name : `${module}.weight`;
    const scales = byName.get(`${base}_scale_inv`) ?? byName.get(`${base}_scale`);
    const [rows = 0, stored = 0] = isStack ? tensor.shape.slice(1) : tensor.shape;
    const one = { ...tensor, shape: [rows, stored] };
    const scalesOfOne = isStack ? scales?.shape.slice(1) : scales?.shape;
    const held = heldAs(one, module, scalesOfOne, { ...options, quantization: atLoad });
    if (isStack && held === 'nvfp4') throw stackedNvfp4(tensor);
    const { name, place } = placeIn(module);
    const whole = fused.get(name) ?? {
      copies: isStack ? (tensor.shape[0] ?? 0) : 1,
      cols: held === 'nvfp4' ? 2 * stored : stored,
      parts: [],
    };
    whole.parts.push({ place, rows, held });
    fused.set(name, whole);
  }
  for (const { copies, cols, parts } of fused.values()) {
    for (const { rows, held } of runsOf(parts)) total += copies * packedMatrixBytes(rows, cols, held);
  }
  return total;
}

/** native/src/model/stored_weight.cpp refuses the same. */
function stackedNvfp4({ name }: TensorEntry): FailureError {
  return new FailureError(
    'UnsupportedQuantization',
    `tensor ${name} stacks experts in NVFP4: tools differ in the order of its axes and in its scales, and none of them ` +
      'says which; use a release with experts one by one (experts.N.gate_proj, ...)',
  );
}

/** Neighbours that are held alike lie in the same panels. */
function runsOf(parts: readonly Part[]): Run[] {
  const runs: Run[] = [];
  for (const { rows, held } of [...parts].sort((a, b) => a.place - b.place)) {
    const last = runs.at(-1);
    if (last?.held === held) last.rows += rows;
    else runs.push({ rows, held });
  }
  return runs;
}

/** The packing rule of native/src/backends/cpu/packed_matrix.cpp. */
function packedMatrixBytes(rows: number, cols: number, held: Held): number {
  const padded = Math.ceil(rows / 64) * 64;
  switch (held) {
    case 'float32':
      return padded * cols * 4;
    case 'bfloat16':
    case 'float16':
      return padded * cols * 2;
    // Float scales, repeated for each row: one per 128 columns, or one.
    case 'fp8Block':
      return padded * (cols + 4 * Math.ceil(cols / 128));
    case 'fp8Row':
    case 'int8':
      return padded * (cols + 4);
    // Half a byte, an e4m3 scale per 16 columns, a float per row.
    case 'nvfp4':
      return padded * (cols / 2 + cols / 16 + 4);
    // Codes, and what a block's columns share.
    case 'Q8_0':
      return padded * (cols + (cols / 32) * 2);
    case 'Q4_0':
      return padded * (cols / 2 + (cols / 32) * 2);
    case 'Q4_K':
      return padded * (cols / 2 + (cols / 256) * 20);
    case 'Q6_K':
      return padded * (cols / 2 + (cols / 256) * 82);
  }
}

function heldAs(
  tensor: TensorEntry,
  module: string,
  scales: readonly number[] | undefined,
  { dtype, quantization }: HoldOptions,
): Held {
  if (tensor.dtype === 'U8') return 'nvfp4';
  if (isBlockTypeName(tensor.dtype)) return tensor.dtype;
  if (tensor.dtype === 'F8_E4M3') {
    const [rows = 1, cols = 1] = tensor.shape;
    const blocks = [Math.ceil(rows / 128), Math.ceil(cols / 128)];
    return scales?.join() === blocks.join() ? 'fp8Block' : 'fp8Row';
  }
  if (quantization !== 'none' && isQuantizedAtLoad(module)) {
    return quantization === 'fp8' ? 'fp8Block' : 'int8';
  }
  if (dtype === 'float32') return 'float32';
  return tensor.dtype === 'F16' ? 'float16' : 'bfloat16';
}

function isBlockTypeName(dtype: string): dtype is BlockTypeName {
  return blockType(dtype) !== undefined;
}

/** Matrices of one input that native/src/model/layers.cpp packs together, one after the other. */
const partners: readonly (readonly string[])[] = [
  ['q_proj', 'k_proj', 'v_proj'],
  ['gate_proj', 'up_proj'],
  ['in_proj_qkv', 'in_proj_z'],
  ['in_proj_b', 'in_proj_a'],
];

function placeIn(module: string): { name: string; place: number } {
  const dot = module.lastIndexOf('.');
  const own = module.slice(dot + 1);
  const names = partners.find((group) => group.includes(own));
  if (names === undefined) return { name: module, place: 0 };
  return { name: `${module.slice(0, dot)}.${names.join('+')}`, place: names.indexOf(own) };
}
