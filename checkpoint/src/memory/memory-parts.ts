// What one rank holds in memory beside its KV blocks. A rank has a device of its own or, on the CPU,
// an equal part of the machine's memory. Pure; all sizes in bytes.

import { mib } from '@llmservice/crds';
import type { ModelShape } from '../config/model-shape.js';
import { hostProcessBytes } from './host-processes.js';
import { kvBytesPerToken, type KvCacheDtype } from './kv-cache.js';
import { adapterBytes, noAdapters, type AdapterRoom } from './adapter-room.js';
import type { Device } from '../weights/check-accelerator.js';
import { withDraftHead } from '../weights/draft-head.js';
import { weightBytesByRank } from '../weights/rank-weights.js';
import type { EngineDtype, ResidentWeights } from '../weights/resident-weights.js';
import { stageShape, stagesOf, stageWeights } from '../weights/stages.js';
import { sharedMemoryNeeded } from './shared-memory.js';
import { draftBytesPerSequence, type Speculative } from '../weights/speculation.js';
import { drafterWorkspaceBytes } from './drafter-workspace.js';
import { deviceWorkspaceBytes } from './device-workspace.js';
import { workspaceBytes } from './workspace.js';

export interface MemoryPlanInput {
  readonly shape: ModelShape;
  readonly accelerator: Device;
  readonly weights: ResidentWeights;
  /** Memory of one device; on the CPU what a pod may use, shared by its ranks. */
  readonly memoryBytes: number;
  /** Share of it that the engine may plan with. */
  readonly memoryUtilizationPercent: number;
  /** Ranks of a stage. */
  readonly tensor: number;
  /** Stages. Absent: 1. */
  readonly pipeline?: number;
  /** Pods that have the ranks, each with as many and with memory of its own. Absent: 1. */
  readonly nodes?: number;
  /** Tokens of prompt plus output; null: the largest that fits. */
  readonly maxModelLen: number | null;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  /** Tokens per KV block. */
  readonly blockSize: number;
  readonly prefixCaching: boolean;
  readonly dtype: EngineDtype;
  readonly speculative: Speculative;
  readonly kvCacheDtype: KvCacheDtype;
  /** Absent: none. */
  readonly adapterRoom?: AdapterRoom;
}

/**
 * What a GPU holds beside the engine's own buffers: the driver's context, which is there when the engine measures what
 * is left, and graphs and code that is loaded late, which are not.
 */
export const deviceReserve = { contextBytes: 512 * mib, graphBytes: 512 * mib } as const;

/** Bytes of one rank. */
export interface MemoryParts {
  readonly budget: number;
  /** Held beside the engine's own buffers. */
  readonly reserved: number;
  readonly sharedMemory: number;
  /** Of the rank that holds most. */
  readonly weights: number;
  readonly weightsOfAllRanks: number;
  readonly stateBytesPerSeq: number;
  /** Recurrent states of all sequences, and what they keep of drafts. */
  readonly state: number;
  readonly workspace: number;
  /** Room for adapters. */
  readonly adapters: number;
  readonly kvBytesPerToken: number;
  readonly kvBytesPerBlock: number;
  /** What is left for KV; negative when it does not even hold the rest. */
  readonly left: number;
}

/** What a rank may use, and what all but KV takes of it. */
export function measure(input: MemoryPlanInput): MemoryParts {
  const budget = Math.floor(
    (input.memoryBytes * input.memoryUtilizationPercent) / 100 / ranksPerMemory(input),
  );
  const reserved = reservedBytes(input);
  const sharedMemory = sharedMemoryPerRank(input);
  const onGpu = input.accelerator !== 'cpu';
  const held = onGpu && input.speculative.method === 'mtp' ? withDraftHead(input.weights) : input.weights;
  // Blocks and states are as many on all stages: of each kind of memory the stage counts that takes most.
  const stages = stagesOf(input.pipeline ?? 1);
  const shapes = stages.map((stage) => stageShape(input.shape, stage));
  const byRank = stages.flatMap((stage) =>
    weightBytesByRank(stageWeights(held, input.shape, stage), input.tensor, input.shape.kvHeads, onGpu),
  );
  const weights = Math.max(...byRank);
  const perSeq = Math.max(...shapes.map((shape) => stateBytesPerSequence(shape, input.tensor)));
  const drafts = draftBytesPerSequence(input.shape, input.tensor, input.speculative);
  const state = (perSeq + drafts) * input.maxNumSeqs;
  const workspace = workspaceBytes(input) + deviceWorkspaceBytes(input) + drafterWorkspaceBytes(input);
  const { tensor, dtype, kvCacheDtype } = input;
  const adapters = adapterBytes(input.shape, tensor, input, input.adapterRoom ?? noAdapters);
  const kvOf = (of: ModelShape, layers: number): number =>
    kvBytesPerToken(of, tensor, dtype, kvCacheDtype, layers);
  const { drafter } = input.weights;
  const drafterKv = drafter === undefined ? 0 : kvOf(drafter.shape, countLayers(drafter.shape, 'full'));
  const ofStages = shapes.map((own) => kvOf(own, countAttentionLayers({ ...input, shape: own })));
  const perToken = Math.max(...ofStages) + drafterKv;
  const left = budget - reserved - sharedMemory - weights - state - workspace - adapters;
  return {
    budget,
    reserved,
    sharedMemory,
    weights,
    weightsOfAllRanks: byRank.reduce((sum, bytes) => sum + bytes, 0),
    stateBytesPerSeq: perSeq,
    state,
    workspace,
    adapters,
    kvBytesPerToken: perToken,
    kvBytesPerBlock: perToken * input.blockSize,
    left,
  };
}

/** On the CPU all processes of a pod take from the memory that its ranks share. */
function reservedBytes(input: MemoryPlanInput): number {
  const { accelerator, shape, weights } = input;
  const ranks = ranksPerMemory(input);
  if (accelerator === 'cpu')
    return hostProcessBytes(shape.vocab, ranks) + Math.ceil((weights.serverBytes ?? 0) / ranks);
  return deviceReserve.contextBytes + deviceReserve.graphBytes;
}

/** Ranks on devices have the memory of theirs; those on the CPU share their pod's. */
export function ranksPerMemory({ accelerator, tensor, pipeline = 1, nodes = 1 }: MemoryPlanInput): number {
  return accelerator === 'cpu' ? (tensor * pipeline) / nodes : 1;
}

/** What lies in /dev/shm is memory of the pod too: the areas of all ranks, wherever they run. */
function sharedMemoryPerRank(input: MemoryPlanInput): number {
  return input.accelerator === 'cpu'
    ? Math.ceil(sharedMemoryNeeded(input.tensor, input.pipeline) / ranksPerMemory(input))
    : 0;
}

/** Float32 state of one sequence on one rank: per GDN layer conv tail (channels, K-1) and S (vHeads, kDim, vDim). */
function stateBytesPerSequence(shape: ModelShape, tensor: number): number {
  if (shape.gdn === null) return 0;
  const { kHeads, vHeads, kDim, vDim, convKernel } = shape.gdn;
  const channels = 2 * kHeads * kDim + vHeads * vDim;
  const perLayer = (channels * (convKernel - 1) + vHeads * kDim * vDim) * 4;
  return Math.ceil((countLayers(shape, 'gdn') * perLayer) / tensor);
}

/** Of those that keep KV: all layers of an encoder take turns in one's; multi-token prediction has one of its own. */
function countAttentionLayers({ shape, speculative }: MemoryPlanInput): number {
  if (shape.bidirectional) return 1;
  return countLayers(shape, 'full') + (speculative.method === 'mtp' ? 1 : 0);
}

function countLayers(shape: ModelShape, kind: 'full' | 'gdn'): number {
  return shape.layerKinds.filter((each) => each === kind).length;
}
