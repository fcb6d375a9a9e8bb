// What the engine holds of a checkpoint's tensors: matrices that run together are packed as one, parts that are not run
// are skipped. Each comes with how ranks divide it; rank-weights.ts counts the bytes of one rank.

import type { Eagle3 } from '../config/eagle3-config.js';
import { ofLayer } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import { FailureError } from '@llmservice/crds';
import { blockType } from '../formats/gguf-types.js';
import { isQuantizedAtLoad, type LoadQuantization } from '../config/quantization.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import type { Speculative } from './speculation.js';
import { counted, layerNumber, layersOf, type CopiesByLayer } from './counted-entries.js';
import { towers } from './towers.js';
import { splitOf, type Split } from './weight-split.js';

/** `auto` is bfloat16. The type of the KV cache and of unquantized matrices in memory. */
export type EngineDtype = 'auto' | 'bfloat16' | 'float32';

/** How matrices are held that the checkpoint does not quantize. */
export interface HoldOptions {
  readonly dtype: EngineDtype;
  readonly quantization: LoadQuantization;
  readonly speculative: Speculative;
}

export type BlockTypeName =
  | 'Q8_0'
  | 'Q4_0'
  | 'Q4_1'
  | 'Q5_0'
  | 'Q5_1'
  | 'Q2_K'
  | 'Q3_K'
  | 'Q4_K'
  | 'Q5_K'
  | 'Q6_K'
  | 'IQ4_NL'
  | 'IQ4_XS'
  | 'MXFP4'
  | 'INT4'
  | 'INT8';

/** What the engine holds of a matrix. */
export type Held =
  'float32' | 'bfloat16' | 'float16' | 'fp8Block' | 'fp8Row' | 'int8' | 'nvfp4' | BlockTypeName;

/** One of the stored matrices that the engine packs as one, over all ranks. */
export interface Part {
  readonly rows: number;
  readonly held: Held;
  readonly split: Split;
  /** Columns are read in another order: no rank holds some of them. */
  readonly reordered?: true;
  /** Columns lie in so many rounds over all key heads, of each of which a rank has its own. */
  readonly rounds?: number;
  /** KV heads of the layer, where the model has layers with others. */
  readonly kvHeads?: number;
}

/** Of whom a step reads: every row, those rows that are routed to it, or single rows of its own. */
export type MatrixUse = 'every' | 'routed' | 'lookup';

/** Rows that run on one input, one part after the other. */
export interface FusedMatrix {
  readonly use: MatrixUse;
  readonly cols: number;
  readonly parts: readonly Part[];
  /** Experts and layers whose matrices are like this one. */
  readonly copies: number;
  /** How many of them are of which layer; the others are of none. */
  readonly layers?: CopiesByLayer;
}

/** Held in float32, (rows, width) over all ranks. */
export interface ResidentVector {
  readonly rows: number;
  readonly width: number;
  readonly split: Split;
  readonly copies: number;
  readonly layers?: CopiesByLayer;
}

/** A checkpoint's weights, a few entries however many layers and experts it has. */
export interface ResidentWeights {
  readonly matrices: readonly FusedMatrix[];
  readonly vectors: readonly ResidentVector[];
  /** Whose weights are among them: a draft model, which has KV and a workspace of its own. */
  readonly drafter?: Drafter;
  /** What the server process holds of it, in float32: modules behind the pooling. Absent: nothing. */
  readonly serverBytes?: number;
}

export interface Drafter {
  readonly shape: ModelShape;
  /** Null: it is a whole model. */
  readonly eagle3: Eagle3 | null;
}

export function dtypeBytes(dtype: EngineDtype): number {
  return dtype === 'float32' ? 4 : 2;
}

/** Vision towers, rotary tables, heads that classify and scalars of layers are in the file but not held in memory of the device. */
const skipped = new RegExp(
  String.raw`^${towers}|rotary_emb\.inv_freq$|^rope_freqs\.weight$|^score\.weight$|\.layer_scalar$|^eagle3\.d2t$`,
);
/** Scales are counted with their matrix; those of activations and of the KV cache are not read. */
const scale =
  /\.(weight_scale|weight_scale_inv|weight_scale_2|weight_global_scale|[a-z_]*(input|output)_(global_)?scale|[qkv]_scale)$|\.experts\.(gate_up|down|gate|up)_proj_scale(_inv|_2)?$/;
const matrix = /^(.*)\.weight(_packed)?$/;

/** What a layer that attends by the keys and values of another does not read, though releases may have it. */
const keysAndValues = /\.self_attn\.(k_proj|v_proj|k_norm)\./;

/** Matrices of all experts in one tensor, as BF16 releases of qwen3_5_moe and GGUF files have them. */
const stackedExperts = /\.experts\.(gate_up|down|gate|up)_proj$/;

/** @throws FailureError UnsupportedQuantization */
export function residentWeights(
  tensors: Iterable<TensorEntry>,
  shape: ModelShape,
  options: HoldOptions,
): ResidentWeights {
  // Of a checkpoint that is quantized already, the engine leaves the rest alone.
  const atLoad = shape.quantization === 'none' ? options.quantization : 'none';
  const byName = new Map(Array.from(tensors, (tensor) => [tensor.name, tensor] as const));
  const fused = new Map<string, PlacedMatrix>();
  const vectors: ResidentVector[] = [];
  for (const tensor of byName.values()) {
    if (!isHeld(tensor, shape, options)) continue;
    const isStack = stackedExperts.test(tensor.name);
    const module = isStack ? tensor.name : moduleOf(tensor);
    if (module === null) {
      const [rows = 1, ...sides] = tensor.shape;
      const own = { rows, width: product(sides), split: splitOf(tensor.name), copies: 1 };
      vectors.push({ ...own, ...layersOf(tensor.name, shape, 1) });
      continue;
    }
    const base = isStack ? tensor.name : `${module}.weight`;
    const scales = (byName.get(`${base}_scale_inv`) ?? byName.get(`${base}_scale`))?.shape;
    const [rows = 0, stored = 0] = isStack ? tensor.shape.slice(1) : tensor.shape;
    const held = heldAs({ ...tensor, shape: [rows, stored] }, module, isStack ? scales?.slice(1) : scales, {
      ...options,
      quantization: atLoad,
    });
    // Of GGUF files axes and scales are known.
    if (isStack && held === 'nvfp4' && shape.quantization !== 'gguf') throw stackedNvfp4(tensor);
    const { name, place } = placeIn(module);
    const copies = isStack ? (tensor.shape[0] ?? 0) : 1;
    const whole = fused.get(name) ?? {
      ...{ use: useOf(module, shape), copies, ...layersOf(tensor.name, shape, copies) },
      cols: held === 'nvfp4' ? 2 * stored : stored,
      parts: [],
    };
    const order = tensor.reordered === true ? { reordered: true as const } : {};
    const split = splitOf(`${module}.weight`);
    const own = { ...roundsOf(module, shape), ...ownKvHeads(module, split, shape) };
    const part = { rows, held, split, ...order, ...own };
    whole.parts.push({ place, tensor: tensor.name, type: typeInPack(tensor.dtype, held), part });
    fused.set(name, whole);
  }
  const matrices = Array.from(fused.values(), ({ parts, ...matrix }) => {
    checkOneType(parts);
    return { ...matrix, parts: parts.sort((a, b) => a.place - b.place).map(({ part }) => part) };
  });
  return { matrices: counted(matrices), vectors: counted(vectors) };
}

/** Those of a head beside those of the model that it drafts for. */
export function joinedWeights(...all: readonly ResidentWeights[]): ResidentWeights {
  return {
    matrices: counted(all.flatMap(({ matrices }) => matrices)),
    vectors: counted(all.flatMap(({ vectors }) => vectors)),
  };
}

interface PlacedPart {
  readonly place: number;
  readonly tensor: string;
  /** Parts of one matrix have one, but for blocks: null. */
  readonly type: string | null;
  readonly part: Part;
}

interface PlacedMatrix extends Omit<FusedMatrix, 'parts'> {
  readonly parts: PlacedPart[];
}

/** What is quantized at load has the type that it gets; else the stored one counts, and how it is scaled. */
function typeInPack(dtype: string, held: Held): string | null {
  if (isBlockTypeName(held)) return null;
  return held === 'int8' || held === 'fp8Block' || held === 'fp8Row' ? held : dtype;
}

/** @throws FailureError UnsupportedQuantization */
function checkOneType([first, ...others]: readonly PlacedPart[]): void {
  const other = others.find(({ type }) => first !== undefined && ![first.type, null].includes(type));
  if (first === undefined || first.type === null || other === undefined) return;
  throw new FailureError(
    'UnsupportedQuantization',
    `tensor ${other.tensor} is stored as ${other.type ?? ''} but ${first.tensor}, which runs with it, as ${first.type}; both ` +
      'must have one type',
  );
}

function isHeld({ name }: TensorEntry, shape: ModelShape, { speculative }: HoldOptions): boolean {
  if (skipped.test(name) || scale.test(name)) return false;
  if (name.startsWith('mtp.') && speculative.method !== 'mtp') return false;
  const layer = Number(layerNumber.exec(name)?.[1] ?? 0);
  if (layer >= shape.layerKinds.length) return false;
  if (keysAndValues.test(name) && ofLayer(shape, layer).sharesKv) return false;
  // Of an encoder, heads are left alone.
  if (shape.bidirectional && !name.startsWith('model.')) return false;
  // A tied table is held once; some releases store the head as well.
  return !(shape.tiedEmbeddings && name.endsWith('lm_head.weight'));
}

/** Of the values that Gated DeltaNet layers put out, in GGUF files. */
function roundsOf(module: string, { gdn }: ModelShape): Pick<Part, 'rounds'> {
  if (gdn?.tiled !== true || !module.endsWith('.linear_attn.out_proj')) return {};
  return { rounds: gdn.vHeads / gdn.kHeads };
}

/** Which an entry holds beside its rows where layers differ in them. */
function ownKvHeads(module: string, split: Split, shape: ModelShape): { kvHeads?: number } {
  if (shape.globalAttention === null || split !== 'kvRows') return {};
  return { kvHeads: ofLayer(shape, Number(layerNumber.exec(module)?.[1])).kvHeads };
}

function useOf(module: string, { tiedEmbeddings }: ModelShape): MatrixUse {
  if (module.includes('.experts.')) return 'routed';
  if (/embed_(?:tokens_per_layer|positions|types)$/.test(module)) return 'lookup';
  return module.endsWith('embed_tokens') && !tiedEmbeddings ? 'lookup' : 'every';
}

function moduleOf({ name, shape }: TensorEntry): string | null {
  return shape.length === 2 ? (matrix.exec(name)?.[1] ?? null) : null;
}

/** native/src/model/stored_weight.cpp refuses the same. */
function stackedNvfp4({ name }: TensorEntry): FailureError {
  return new FailureError(
    'UnsupportedQuantization',
    `tensor ${name} stacks experts in NVFP4: tools differ in the order of its axes and in its scales, and none of them ` +
      'says which; use a release with experts one by one (experts.N.gate_proj, ...)',
  );
}

function heldAs(
  tensor: TensorEntry,
  module: string,
  scales: readonly number[] | undefined,
  { dtype, quantization }: HoldOptions,
): Held {
  if (tensor.dtype === 'U8') return 'nvfp4';
  if (tensor.dtype === 'I8') return 'int8';
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

const product = (sides: readonly number[]): number => sides.reduce((total, side) => total * side, 1);
