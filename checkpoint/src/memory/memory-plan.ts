// The memory plan of one rank: what weights, recurrent state and workspace take, and how many KV
// blocks the rest holds. Pure; the operator plans with it before a device is taken, the runtime before it loads. All
// sizes in bytes; a plan that cannot serve is a typed failure with computed remedies.

import { FailureError } from '@llmservice/crds';
import { measure, ranksPerMemory, type MemoryParts, type MemoryPlanInput } from './memory-parts.js';
import { checkAccelerator } from '../weights/check-accelerator.js';
import { contextTooLong, tooLarge } from './memory-refusals.js';
import { checkPipeline } from '../weights/stages.js';
import { checkTensorParallel } from '../weights/tensor-parallel.js';

interface MemoryPlanRow {
  readonly name: string;
  readonly bytes: number;
  readonly note: string;
}

/** Per rank. */
export interface MemoryPlan {
  /** Of the rank that holds most. */
  readonly weightBytes: number;
  /** Recurrent state of maxNumSeqs slots, with what they keep of drafts. */
  readonly stateBytes: number;
  readonly stateBytesPerSeq: number;
  /** Copies of a sequence's recurrent state that the prefix cache can keep. */
  readonly numStateSnapshots: number;
  readonly stateSnapshotBytes: number;
  readonly workspaceBytes: number;
  /** Room for adapters. */
  readonly adapterBytes: number;
  readonly kvBytesPerToken: number;
  readonly kvBytesPerBlock: number;
  /** KV blocks to allocate; no more than maxNumSeqs sequences of maxModelLen, or a step of an encoder, could ever fill. */
  readonly numBlocks: number;
  /** As asked for, or the largest that fits. */
  readonly maxModelLen: number;
  /** How many sequences of maxModelLen tokens the KV blocks hold at once. */
  readonly maxConcurrencyAtMaxLen: number;
  readonly rows: readonly MemoryPlanRow[];
}

/**
 * Plans one device.
 * @throws FailureError UnsupportedArchitecture, ParallelismInvalid, ModelTooLarge, KvCacheTooSmall (detail.fits: largest maxModelLen),
 *   InvalidEngineConfig (maxModelLen above what the checkpoint was made for, or of an encoder above the rows of a step)
 */
export function planMemory(input: MemoryPlanInput): MemoryPlan {
  checkAccelerator(input.shape, input.accelerator);
  checkTensorParallel(input.shape, input.weights, input.tensor);
  checkPipeline(input.shape, input.pipeline ?? 1);
  checkContext(input);
  const parts = measure(input);
  if (parts.left < parts.kvBytesPerBlock) throw tooLarge(input, parts);

  const blocksIn = (bytes: number): number =>
    parts.kvBytesPerBlock === 0 ? Infinity : Math.floor(bytes / parts.kvBytesPerBlock);
  const blocksThatFit = blocksIn(parts.left);
  const longest = Math.min(longestOf(input), blocksThatFit * input.blockSize);
  const maxModelLen = input.maxModelLen ?? longest;
  const blocksPerSequence = Math.ceil(maxModelLen / input.blockSize);
  if (blocksPerSequence > blocksThatFit) throw contextTooLong(input, maxModelLen, longest);

  const numStateSnapshots = countSnapshots(input, parts, blocksPerSequence);
  const stateSnapshotBytes = numStateSnapshots * parts.stateBytesPerSeq;
  const blocksBeside = blocksIn(parts.left - stateSnapshotBytes);
  const numBlocks = Math.min(blocksBeside, blocksPerSequence * input.maxNumSeqs, blocksOfStep(input));
  return {
    weightBytes: parts.weights,
    stateBytes: parts.state,
    stateBytesPerSeq: parts.stateBytesPerSeq,
    numStateSnapshots,
    stateSnapshotBytes,
    workspaceBytes: parts.workspace,
    adapterBytes: parts.adapters,
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
function countSnapshots(input: MemoryPlanInput, parts: MemoryParts, blocksPerSequence: number): number {
  if (!input.prefixCaching || parts.stateBytesPerSeq === 0) return 0;
  const spare = parts.left - blocksPerSequence * parts.kvBytesPerBlock;
  const most = Math.floor((spare * snapshotShare) / parts.stateBytesPerSeq);
  return Math.min(most, snapshotsPerSequence * input.maxNumSeqs);
}

/** Whatever memory there is: an encoder reads a sequence in one step. */
function longestOf({ shape, maxNumBatchedTokens }: MemoryPlanInput): number {
  const { bidirectional, maxPositionEmbeddings } = shape;
  return bidirectional ? Math.min(maxPositionEmbeddings, maxNumBatchedTokens) : maxPositionEmbeddings;
}

/** No step of an encoder finds anything in the blocks of those before it: there are as many as one can fill. */
function blocksOfStep({ shape, maxNumBatchedTokens, maxNumSeqs, blockSize }: MemoryPlanInput): number {
  if (!shape.bidirectional) return Infinity;
  return Math.floor((maxNumBatchedTokens + maxNumSeqs * (blockSize - 1)) / blockSize);
}

function checkContext(input: MemoryPlanInput): void {
  const { shape, maxModelLen, maxNumBatchedTokens } = input;
  if (maxModelLen === null || maxModelLen <= longestOf(input)) return;
  if (maxModelLen <= shape.maxPositionEmbeddings) {
    throw new FailureError(
      'InvalidEngineConfig',
      `engine.maxModelLen ${String(maxModelLen)} is more than engine.maxNumBatchedTokens ${String(maxNumBatchedTokens)}, ` +
        `but ${shape.architecture} reads a text in one step: raise maxNumBatchedTokens, or lower maxModelLen`,
      { maxModelLen, maxNumBatchedTokens },
    );
  }
  throw new FailureError(
    'InvalidEngineConfig',
    `engine.maxModelLen ${String(maxModelLen)} is more than the ` +
      `${String(shape.maxPositionEmbeddings)} positions of the checkpoint (max_position_embeddings and its rope scaling)`,
    { maxModelLen, maxPositionEmbeddings: shape.maxPositionEmbeddings },
  );
}

function weightsNote({ tensor, pipeline = 1 }: MemoryPlanInput, { weightsOfAllRanks }: MemoryParts): string {
  const ranks = tensor * pipeline;
  return ranks === 1 ? 'all' : `of ${String(weightsOfAllRanks)} bytes that ${String(ranks)} ranks hold`;
}

function reservedNote(input: MemoryPlanInput): string {
  if (input.accelerator !== 'cpu') return 'held by the driver beside the engine';
  const processes = 'Node, tokenizer, and one text or form at work, in the processes beside the engine';
  return ranksPerMemory(input) === 1 ? processes : `this rank's part: ${processes}`;
}

function adapterRows({ adapterRoom }: MemoryPlanInput, { adapters }: MemoryParts): MemoryPlanRow[] {
  if (adapterRoom === undefined || adapterRoom.max === 0) return [];
  const { max, maxRank } = adapterRoom;
  return [
    {
      name: 'adapters',
      bytes: adapters,
      note: `${String(max)} of rank ${String(maxRank)} and of all linear layers`,
    },
  ];
}

function describe(
  input: MemoryPlanInput,
  parts: MemoryParts,
  numBlocks: number,
  numStateSnapshots: number,
): MemoryPlanRow[] {
  const snapshots = numStateSnapshots * parts.stateBytesPerSeq;
  const kv = numBlocks * parts.kvBytesPerBlock;
  return [
    { name: 'weights', bytes: parts.weights, note: weightsNote(input, parts) },
    {
      name: 'recurrent state',
      bytes: parts.state,
      note: `${String(input.maxNumSeqs)} x ${String(parts.state / input.maxNumSeqs)} bytes per sequence`,
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
    ...adapterRows(input, parts),
    {
      name: 'KV cache',
      bytes: kv,
      note: `${String(numBlocks)} blocks of ${String(input.blockSize)} tokens, ${String(parts.kvBytesPerToken)} bytes per token`,
    },
    { name: 'reserved', bytes: parts.reserved, note: reservedNote(input) },
    {
      name: 'shared memory',
      bytes: parts.sharedMemory,
      note: `this rank's part of ${String(parts.sharedMemory * ranksPerMemory(input))} bytes in /dev/shm`,
    },
    {
      name: 'free',
      bytes: parts.left - snapshots - kv,
      note: `of ${String(parts.budget)} bytes the engine may use`,
    },
  ];
}
