// The package's functions over the addon.

import type {
  ArrivalMap,
  BoundOptions,
  DraftMethod,
  Engine,
  EngineOptions,
  GpuDevices,
  GpuVendor,
  GrammarCompiler,
  GroupState,
  LoadProgress,
  Vocabulary,
} from './binding.js';
import { checkLoadQuantization } from '@llmservice/checkpoint';
import {
  openCheckpoint,
  openDraftModel,
  openEagle3,
  type LocalCheckpoint,
} from '@llmservice/checkpoint/local';
import { describeCheckpoint } from './describe-checkpoint.js';
import { loadAddon } from './load-addon.js';

const addon = () => loadAddon(process.env['LLMSERVICE_NATIVE_ADDON']);

/**
 * Loads a checkpoint into memory and allocates its caches.
 * @param arrivals what of the weights is on disk while they are still fetched; null: all
 * @throws an error whose `reason` is a failure reason of the contract, with a message that names file and tensor.
 */
export async function loadEngine(
  options: EngineOptions,
  onProgress: LoadProgress,
  arrivals: ArrivalMap | null = null,
): Promise<Engine> {
  return addon().load(await bound(options), arrivals, onProgress);
}

/** Runs a rank other than 0 until rank 0's engine is disposed. @throws as `loadEngine`, and when a rank is lost */
export async function runRank(
  options: EngineOptions,
  onProgress: LoadProgress,
  arrivals: ArrivalMap | null = null,
): Promise<void> {
  return addon().runRank(await bound(options), arrivals, onProgress);
}

async function bound({ modelDir, quantization, speculative, ...rest }: EngineOptions): Promise<BoundOptions> {
  const { headDir, ...speculation } = speculative;
  const model = await openCheckpoint(modelDir);
  checkLoadQuantization(model.shape.quantization, quantization);
  const checkpoint = describeCheckpoint(model, quantization);
  const opened = headDir === undefined ? null : await openHead(headDir, speculation.method, model);
  const head = opened === null ? null : describeCheckpoint(opened, quantization);
  return { ...rest, speculative: speculation, checkpoint, head };
}

async function openHead(
  dir: string,
  method: DraftMethod,
  { shape }: LocalCheckpoint,
): Promise<LocalCheckpoint> {
  if (method === 'eagle3') return openEagle3(dir, shape);
  return method === 'draft_model' ? openDraftModel(dir, shape) : openCheckpoint(dir);
}

/** A compiler of grammars, for admissions to an engine of that vocabulary. */
export function grammarCompiler(vocabulary: Vocabulary): GrammarCompiler {
  return addon().grammarCompiler(vocabulary);
}

/** The descriptor of a new file of memory, without a name; it goes with the last process that holds it. */
export function makeMemoryFile(): number {
  return addon().makeMemoryFile();
}

/** The descriptor of new shared memory for a group of ranks, of so many stages. @throws SharedMemoryTooSmall with the size needed */
export function makeSegment(ranks: number, stages = 1): number {
  return addon().makeSegment(ranks, stages);
}

/** How far the group of a segment is. */
export function groupState(segment: number, ranks: number): GroupState {
  return addon().groupState(segment, ranks);
}

/** From now on the kernel kills this process when its parent ends. */
export function dieWithParent(): void {
  addon().dieWithParent();
}

/** From now on no other process of the same user can read this one's environment, memory and open files. */
export function denyTracing(): void {
  addon().denyTracing();
}

/** Processes that this one starts from now on inherit none of its descriptors, but the ones they are given. */
export function keepDescriptors(): void {
  addon().keepDescriptors();
}

/** Whether the open file now has an advisory lock; see `NativeAddon.tryLock`. */
export function tryLock(descriptor: number, exclusive: boolean): boolean {
  return addon().tryLock(descriptor, exclusive);
}

/** CPU instruction families that this machine can run, best last. */
export function cpuIsas(): string[] {
  return addon().cpuIsas();
}

/** A vendor's GPUs that this process sees, or why there are none. */
export function gpuDevices(vendor: GpuVendor): GpuDevices {
  return addon().gpuDevices(vendor);
}
