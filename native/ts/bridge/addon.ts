// What the compiled addon exports. One engine thread per Engine runs steps in order; promises settle on the JavaScript thread.

import type { AdapterPart } from './adapter.js';
import type { ArrivalMap, BoundOptions, EngineInfo, GpuVendor } from './engine-options.js';
import type { GrammarCompiler, Vocabulary } from './grammar.js';
import type { StepPlan } from './step-plan.js';
import type { StepResult } from './step-result.js';
import type { FetchState, KvFetch, KvOffer } from './transfer.js';

/**
 * A model in memory with its caches. Errors carry `reason` (a failure reason of the contract), a message, and some of
 * them `detail` (its figures).
 */
export interface Engine {
  readonly info: EngineInfo;
  /**
   * One step runs, and one more may wait for its end.
   * @throws when the plan breaks a rule (a bug of the caller): the message names the rule; nothing was computed.
   */
  step(plan: StepPlan): Promise<StepResult>;
  /** Takes back the step asked for last, unless it has begun: its promise rejects, and it leaves no trace. */
  withdraw(): boolean;
  /**
   * Reads a part of an adapter, between two steps. One adapter is loaded at a time: when a part fails, nothing of the
   * adapter is left.
   * @throws where the file cannot be read, or where the engine has no room for the rank
   */
  loadAdapter(part: AdapterPart): Promise<void>;
  /** Forgets an adapter, or what is loaded of it. Sequences that use it must not be advanced any more. */
  unloadAdapter(number: number): Promise<void>;
  /** Each of these, between two steps, holds on all ranks once it resolves. They need `transfer`. A ticket that is taken is replaced. */
  offerKv(offer: KvOffer): Promise<void>;
  /** Afterwards nobody reads the offer. */
  withdrawKv(ticket: string): Promise<void>;
  /** Begins a fetch, which runs beside steps until `fetchedKv` says that it has ended, or `endFetch` ends it. */
  fetchKv(fetch: KvFetch): Promise<void>;
  fetchedKv(id: number): Promise<FetchState>;
  /** Afterwards nothing is written to its blocks. One that has ended is no error. */
  endFetch(id: number): Promise<void>;
  /** Waits for the steps in flight, then frees everything. Idempotent. */
  dispose(): Promise<void>;
}

/** Progress of a load, about ten times a second. */
export type LoadProgress = (bytesDone: number, bytesTotal: number) => void;

/** One GPU as its driver describes it. */
export interface GpuDevice {
  readonly name: string;
  /** `sm_90` or `gfx942`, for example. */
  readonly architecture: string;
  /** `0000:c1:00.0`; partitions of a card share it. */
  readonly pciAddress: string;
  readonly memoryBytes: number;
  readonly multiprocessors: number;
}

export interface GpuDevices {
  readonly devices: readonly GpuDevice[];
  /** Why there are none; null when there are some. */
  readonly problem: string | null;
}

/** Of several ranks while they begin. */
export interface GroupState {
  /** Which nodes are waited for, and why; empty: none. */
  readonly waitingFor: string;
  /** Connections to the first node that it refused while it waited. */
  readonly refusals: number;
  /** Who the last of them was, and why; empty: nobody. */
  readonly lastRefusal: string;
  /** All ranks have loaded. */
  readonly loaded: boolean;
}

/** What the compiled addon exports. */
export interface NativeAddon {
  /** Reads the weights into memory; rejects with an error that carries `reason`. Null: all is there. */
  load(options: BoundOptions, arrivals: ArrivalMap | null, onProgress: LoadProgress): Promise<Engine>;
  /**
   * The same for ranks other than 0, whose steps are those of rank 0's engine: resolves once that is disposed,
   * rejects when this rank fails or another is lost.
   */
  runRank(options: BoundOptions, arrivals: ArrivalMap | null, onProgress: LoadProgress): Promise<void>;
  grammarCompiler(vocabulary: Vocabulary): GrammarCompiler;
  /** A new file of memory, without a name; it goes with the last process that holds it. */
  makeMemoryFile(): number;
  /**
   * New shared memory for a group, as a descriptor that the caller hands to each rank's process. It has no name and
   * goes with the last process that holds it. `stages`: as in `RankPlace`, or 1. @throws SharedMemoryTooSmall
   */
  makeSegment(ranks: number, stages: number): number;
  /** How far the group of that memory is, by what it says of itself. */
  groupState(segment: number, ranks: number): GroupState;
  /** From now on the kernel kills this process when the thread that started it ends. */
  dieWithParent(): void;
  /**
   * From now on no other process of the same user can trace this one or read its environment, memory and open files.
   * Those that it starts can be traced.
   */
  denyTracing(): void;
  /** Processes that this one starts inherit no descriptor that it has now, but the ones they are given. */
  keepDescriptors(): void;
  /**
   * Whether the open file now has an advisory lock (flock), shared or exclusive; never waits. The kernel takes it back
   * with the last descriptor of that opening, however the process ends. @throws where the file system has no locks
   */
  tryLock(descriptor: number, exclusive: boolean): boolean;
  /** CPU instruction families that this machine can run, best last; the first is `portable`. */
  cpuIsas(): string[];
  /** A vendor's GPUs that this process sees. */
  gpuDevices(vendor: GpuVendor): GpuDevices;
}
