// The memory plan of one tensor-parallel rank, which has a device of its own or, on the CPU, an equal part of the
// machine's memory: what weights, recurrent state and workspace take,
// and how many KV blocks the rest holds. Pure; the operator plans with it before a device is taken, the runtime
// before it loads. All sizes in bytes; a plan that cannot serve is a typed failure with computed remedies.

import { FailureError } from './failures.js';
import type { ModelShape } from './checkpoint.js';
import { sharedMemoryNeeded } from './shared-memory.js';
import { dtypeBytes, type EngineDtype } from './resident-weights.js';
import { checkTensorParallel, validTensorParallel } from './tensor-parallel.js';
import { workspaceBytes } from './workspace.js';

export interface MemoryPlanInput {
  readonly shape: ModelShape;
  readonly accelerator: 'cpu' | 'cuda' | 'hip';
  /** Packed weights over all ranks (see residentWeightBytes). */
  readonly weightBytes: number;
  /** Memory of one device; on the CPU what the pod may use, shared by all ranks. */
  readonly memoryBytes: number;
  /** Share of it that the engine may plan with. */
  readonly memoryUtilizationPercent: number;
  readonly tensor: number;
  /** Tokens of prompt plus output; null: the largest that fits. */
  readonly maxModelLen: number | null;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  /** Tokens per KV block. */
  readonly blockSize: number;
  readonly prefixCaching: boolean;
  readonly dtype: EngineDtype;
}

export interface MemoryPlanRow {
  readonly name: string;
  readonly bytes: number;
  readonly note: string;
}

/** Per rank. */
export interface MemoryPlan {
  readonly weightBytes: number;
  /** Recurrent state of maxNumSeqs slots. */
  readonly stateBytes: number;
  readonly stateBytesPerSeq: number;
  /** Copies of a sequence's recurrent state that the prefix cache can keep. */
  readonly numStateSnapshots: number;
  readonly stateSnapshotBytes: number;
  readonly workspaceBytes: number;
  readonly kvBytesPerToken: number;
  readonly kvBytesPerBlock: number;
  /** KV blocks to allocate; no more than maxNumSeqs sequences of maxModelLen could ever fill. */
  readonly numBlocks: number;
  /** As asked for, or the largest that fits. */
  readonly maxModelLen: number;
  /** How many sequences of maxModelLen tokens the KV blocks hold at once. */
  readonly maxConcurrencyAtMaxLen: number;
  readonly rows: readonly MemoryPlanRow[];
}

const mib = 1024 * 1024;

/** Held beside the engine's own buffers: Node and tokenizer on the CPU, device context and collectives on a GPU. */
export const reservedBytes = { cpu: 256 * mib, cuda: 1024 * mib, hip: 1024 * mib } as const;

/**
 * Plans one device.
 * @throws FailureError ParallelismInvalid, ModelTooLarge, KvCacheTooSmall (detail.fits: largest maxModelLen),
 *   InvalidEngineConfig (maxModelLen above what the checkpoint was made for)
 */
export function planMemory(input: MemoryPlanInput): MemoryPlan {
  checkTensorParallel(input.shape, input.tensor);
  checkContext(input);
  const parts = measure(input);
  if (parts.left < parts.kvBytesPerBlock) throw tooLarge(input, parts);

  const blocksIn = (bytes: number): number =>
    parts.kvBytesPerBlock === 0 ? Infinity : Math.floor(bytes / parts.kvBytesPerBlock);
  const blocksThatFit = blocksIn(parts.left);
  const longest = Math.min(input.shape.maxPositionEmbeddings, blocksThatFit * input.blockSize);
  const maxModelLen = input.maxModelLen ?? longest;
  const blocksPerSequence = Math.ceil(maxModelLen / input.blockSize);
  if (blocksPerSequence > blocksThatFit) throw contextTooLong(input, maxModelLen, longest);

  const numStateSnapshots = countSnapshots(input, parts, blocksPerSequence);
  const stateSnapshotBytes = numStateSnapshots * parts.stateBytesPerSeq;
  const blocksBeside = blocksIn(parts.left - stateSnapshotBytes);
  const numBlocks = Math.min(blocksBeside, blocksPerSequence * input.maxNumSeqs);
  return {
    weightBytes: parts.weights,
    stateBytes: parts.state,
    stateBytesPerSeq: parts.stateBytesPerSeq,
    numStateSnapshots,
    stateSnapshotBytes,
    workspaceBytes: parts.workspace,
    kvBytesPerToken: parts.kvBytesPerToken,
    kvBytesPerBlock: parts.kvBytesPerBlock,
    numBlocks,
    maxModelLen,
    maxConcurrencyAtMaxLen: Math.floor(numBlocks / blocksPerSequence),
    rows: describe(input, parts, numBlocks, numStateSnapshots),
  };
}

/** Of what the longest sequence leaves, the prefix cache of a hybrid model may take this share for states. */
const snapshotShare = 0.2;
/** More states than this per sequence that can run at once are hardly found again. */
const snapshotsPerSequence = 4;

/** Snapshots never cost context: one sequence of maxModelLen has its blocks first. */
function countSnapshots(input: MemoryPlanInput, parts: Parts, blocksPerSequence: number): number {
  if (!input.prefixCaching || parts.stateBytesPerSeq === 0) return 0;
  const spare = parts.left - blocksPerSequence * parts.kvBytesPerBlock;
  const most = Math.floor((spare * snapshotShare) / parts.stateBytesPerSeq);
  return Math.min(most, snapshotsPerSequence * input.maxNumSeqs);
}

interface Parts {
  readonly budget: number;
  readonly reserved: number;
  readonly sharedMemory: number;
  readonly weights: number;
  readonly stateBytesPerSeq: number;
  readonly state: number;
  readonly workspace: number;
  readonly kvBytesPerToken: number;
  readonly kvBytesPerBlock: number;
  /** What is left for KV; negative when it does not even hold the rest. */
  readonly left: number;
}

function measure(input: MemoryPlanInput): Parts {
  const budget = Math.floor(
    (input.memoryBytes * input.memoryUtilizationPercent) / 100 / ranksPerMemory(input),
  );
  const reserved = reservedBytes[input.accelerator];
  const sharedMemory = sharedMemoryPerRank(input);
  const weights = Math.ceil(input.weightBytes / input.tensor) + replicatedKvBytes(input);
  const perSeq = stateBytesPerSequence(input.shape, input.tensor);
  const state = perSeq * input.maxNumSeqs;
  const workspace = workspaceBytes(input);
  const perToken = kvBytesPerToken(input.shape, input.tensor, input.dtype);
  const left = budget - reserved - sharedMemory - weights - state - workspace;
  return {
    budget,
    reserved,
    sharedMemory,
    weights,
    stateBytesPerSeq: perSeq,
    state,
    workspace,
    kvBytesPerToken: perToken,
    kvBytesPerBlock: perToken * input.blockSize,
    left,
  };
}

/** Ranks on devices have the memory of theirs; those on the CPU share the machine's. */
function ranksPerMemory({ accelerator, tensor }: MemoryPlanInput): number {
  return accelerator === 'cpu' ? tensor : 1;
}

/** What lies in /dev/shm is memory of the pod too. */
function sharedMemoryPerRank({ accelerator, tensor }: MemoryPlanInput): number {
  return accelerator === 'cpu' ? Math.ceil(sharedMemoryNeeded(tensor) / tensor) : 0;
}

/** K and V of one token on one rank: only full-attention layers keep them; KV heads replicate beyond tp = kvHeads. */
export function kvBytesPerToken(shape: ModelShape, tensor: number, dtype: EngineDtype): number {
  const headsPerRank = Math.max(1, shape.kvHeads / tensor);
  return countLayers(shape, 'full') * 2 * headsPerRank * shape.headDim * dtypeBytes(dtype);
}

/** Float32 state of one sequence on one rank: per GDN layer the conv tail (channels, K-1) and S (vHeads, kDim, vDim). */
export function stateBytesPerSequence(shape: ModelShape, tensor: number): number {
  if (shape.gdn === null) return 0;
  const { kHeads, vHeads, kDim, vDim, convKernel } = shape.gdn;
  const channels = 2 * kHeads * kDim + vHeads * vDim;
  const perLayer = (channels * (convKernel - 1) + vHeads * kDim * vDim) * 4;
  return Math.ceil((countLayers(shape, 'gdn') * perLayer) / tensor);
}

/** Beyond tp = kvHeads every rank still holds one whole KV head of k_proj and v_proj. */
function replicatedKvBytes({ shape, tensor, dtype }: MemoryPlanInput): number {
  if (tensor <= shape.kvHeads) return 0;
  const perElement = shape.quantization === 'none' ? dtypeBytes(dtype) : 1;
  const extraHeads = 1 - shape.kvHeads / tensor;
  return Math.ceil(countLayers(shape, 'full') * 2 * extraHeads * shape.headDim * shape.hidden * perElement);
}

function countLayers(shape: ModelShape, kind: 'full' | 'gdn'): number {
  return shape.layerKinds.filter((each) => each === kind).length;
}

function checkContext({ shape, maxModelLen }: MemoryPlanInput): void {
  if (maxModelLen === null || maxModelLen <= shape.maxPositionEmbeddings) return;
  throw new FailureError(
    'InvalidEngineConfig',
    `engine.maxModelLen ${String(maxModelLen)} is more than the checkpoint's ` +
      `max_position_embeddings ${String(shape.maxPositionEmbeddings)}`,
    { maxModelLen, maxPositionEmbeddings: shape.maxPositionEmbeddings },
  );
}

/** Not one KV block is left: weights, state and workspace take all. */
function tooLarge(input: MemoryPlanInput, parts: Parts): FailureError {
  const needed = parts.budget - parts.left + parts.kvBytesPerBlock;
  const { accelerator, tensor } = input;
  const whose = accelerator === 'cpu' ? 'of the machine' : 'per device';
  const remedies = [
    ...remediesFor(input),
    `memory of at least ${formatGiB(neededMemory(input, needed))} ${whose}`,
  ];
  const share = ranksPerMemory(input) === 1 ? '' : ` shared by ${String(tensor)} ranks`;
  return new FailureError(
    'ModelTooLarge',
    `one rank needs ${formatGiB(needed)} (weights ${formatGiB(parts.weights)}, recurrent state ` +
      `${formatGiB(parts.state)}, workspace ${formatGiB(parts.workspace)}, reserved ${formatGiB(parts.reserved)}, ` +
      `one KV block) but may use ${formatGiB(parts.budget)} ` +
      `(${String(input.memoryUtilizationPercent)} % of ${formatGiB(input.memoryBytes)}${share}). ` +
      `Any of these would do: ${remedies.join('; ')}`,
    { needed, available: parts.budget },
  );
}

function contextTooLong(input: MemoryPlanInput, maxModelLen: number, fits: number): FailureError {
  const remedies = [`engine.maxModelLen ${String(fits)}`, ...remediesFor(input)];
  return new FailureError(
    'KvCacheTooSmall',
    `a sequence of ${String(maxModelLen)} tokens does not fit; the longest that does is ${String(fits)}. ` +
      `Any of these would do: ${remedies.slice(0, 3).join('; ')}`,
    { fits, maxModelLen },
  );
}

/** Single changes, each of which was tried and makes the plan hold; the cheapest first. */
function remediesFor(input: MemoryPlanInput): string[] {
  const wanted = Math.ceil((input.maxModelLen ?? 1) / input.blockSize);
  const holds = (change: Partial<MemoryPlanInput>): boolean => {
    const parts = measure({ ...input, ...change });
    return parts.left >= parts.kvBytesPerBlock * wanted;
  };
  const found: string[] = [];
  const percent = range(input.memoryUtilizationPercent + 1, 95).find((n) =>
    holds({ memoryUtilizationPercent: n }),
  );
  if (percent !== undefined) found.push(`engine.memoryUtilizationPercent ${String(percent)}`);
  const seqs = halvings(input.maxNumSeqs).find((n) => holds({ maxNumSeqs: n }));
  if (seqs !== undefined) found.push(`engine.maxNumSeqs ${String(seqs)}`);
  const rows = halvings(input.maxNumBatchedTokens)
    .filter((n) => n >= input.maxNumSeqs + 64)
    .find((n) => holds({ maxNumBatchedTokens: n }));
  if (rows !== undefined) found.push(`engine.maxNumBatchedTokens ${String(rows)}`);
  // Ranks on the CPU share one memory: more of them hold no more.
  const tensor =
    input.accelerator === 'cpu'
      ? undefined
      : validTensorParallel(input.shape).find((n) => n > input.tensor && holds({ tensor: n }));
  if (tensor !== undefined) found.push(`parallelism.tensor ${String(tensor)}`);
  return found;
}

function neededMemory(input: MemoryPlanInput, needed: number): number {
  return Math.ceil((needed * ranksPerMemory(input) * 100) / input.memoryUtilizationPercent);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

function halvings(from: number): number[] {
  const values: number[] = [];
  for (let n = Math.floor(from / 2); n >= 1; n = Math.floor(n / 2)) values.push(n);
  return values;
}

function describe(
  input: MemoryPlanInput,
  parts: Parts,
  numBlocks: number,
  numStateSnapshots: number,
): MemoryPlanRow[] {
  const snapshots = numStateSnapshots * parts.stateBytesPerSeq;
  const kv = numBlocks * parts.kvBytesPerBlock;
  return [
    { name: 'weights', bytes: parts.weights, note: `1/${String(input.tensor)} of the checkpoint` },
    {
      name: 'recurrent state',
      bytes: parts.state,
      note: `${String(input.maxNumSeqs)} x ${String(parts.stateBytesPerSeq)} bytes per sequence`,
    },
    {
      name: 'state snapshots',
      bytes: snapshots,
      note: `${String(numStateSnapshots)} recurrent states kept for the prefix cache`,
    },
    {
      name: 'workspace',
      bytes: parts.workspace,
      note: `${String(input.maxNumBatchedTokens)} rows, and logits`,
    },
    {
      name: 'KV cache',
      bytes: kv,
      note: `${String(numBlocks)} blocks of ${String(input.blockSize)} tokens, ${String(parts.kvBytesPerToken)} bytes per token`,
    },
    { name: 'reserved', bytes: parts.reserved, note: 'held beside the engine' },
    {
      name: 'shared memory',
      bytes: parts.sharedMemory,
      note: `this rank's part of ${String(parts.sharedMemory * input.tensor)} bytes in /dev/shm`,
    },
    {
      name: 'free',
      bytes: parts.left - snapshots - kv,
      note: `of ${String(parts.budget)} bytes the engine may use`,
    },
  ];
}

/** Sizes for people: GiB with two digits, or MiB under 0.1 GiB. */
export function formatGiB(bytes: number): string {
  return bytes < 0.1 * 1024 * mib
    ? `${(bytes / mib).toFixed(1)} MiB`
    : `${(bytes / (1024 * mib)).toFixed(2)} GiB`;
}
