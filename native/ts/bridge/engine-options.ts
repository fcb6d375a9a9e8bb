// What a load needs to know of a checkpoint and of the room that it may take, and what the engine then says of itself.

import type { LoadQuantization } from '@llmservice/checkpoint';
import type { Int64 } from './numbers.js';
import type { TransferOptions } from './transfer.js';

/** What the addon needs to know of a checkpoint and of the room it may take. */
export interface BoundOptions {
  /** As describe-checkpoint.ts writes it. */
  readonly checkpoint: string;
  /** What drafts: another checkpoint of the same model, for its layer, or a draft model; null: the model's own layer. */
  readonly head: string | null;
  /** Tokens per KV block; divides 64 or is a multiple of it. */
  readonly blockSize: number;
  /** KV blocks of the paged cache; with `memory`, the most that can be of use. */
  readonly numBlocks: number;
  /**
   * On GPUs: as many blocks as fit what the device has left once all else lies there, on the rank that has least;
   * null, and always on the CPU: `numBlocks`.
   */
  readonly memory: MemoryShare | null;
  /** Sequences that may hold a slot (token state, recurrent state) at once. */
  readonly maxNumSeqs: number;
  /** Copies of a slot's recurrent state that can be kept for other sequences; 0 for models without one. */
  readonly numStateSnapshots: number;
  /** Longest sequence, prompt plus output, in tokens. */
  readonly maxModelLen: number;
  /** Rows of the largest step: at least maxNumSeqs x (1 + speculative.tokens) + 64. */
  readonly maxNumBatchedTokens: number;
  /** Type of KV cache and unquantized weights; auto is bfloat16. F16 matrices stay F16 unless it is float32. */
  readonly dtype: ComputeDtype;
  /** auto: KV is kept in `dtype`; fp8: in e4m3 with a scale per token and head. */
  readonly kvCacheDtype: KvCacheDtype;
  readonly speculative: Speculation;
  /** Compute threads; null: one per physical core this process may use. */
  readonly threads: number | null;
  /**
   * What runs the model. GPUs: the rank's own device, or the load fails with DeviceUnavailable; `emulator`, where it was
   * built, runs their kernels on the CPU, for tests.
   */
  readonly device: DeviceKind;
  /**
   * Of several ranks on GPUs, who adds up: this code, in rank order, or the vendor's library (NCCL, RCCL), in an order
   * of its own; auto: the library where devices do not reach each other's memory.
   */
  readonly collectives: CollectivesChoice;
  /** CPU instruction family; auto: the best this machine has; float32: the best that does not round activations. */
  readonly isa: CpuIsa;
  /** Report a hash of the logits behind each sampled token: for tests of identity, which pay a pass over the vocabulary. */
  readonly logitHashes: boolean;
  /**
   * After the load, compare what each rank computes with what the checkpoint's bytes and a scalar reference say: of one
   * layer of each kind. A difference fails the load with EngineNumericalFault.
   */
  readonly selfCheck: boolean;
  /** Largest rank of the adapters that will be loaded, for which GPUs keep room; 0: none will. */
  readonly maxAdapterRank: number;
  /** For KV that goes to other engines or comes from them; null: none does. */
  readonly transfer: TransferOptions | null;
  /** Of several ranks, which one this is; null: the only one. */
  readonly place: RankPlace | null;
}

/** What `loadEngine` needs to know of a checkpoint and of the room it may take. */
export interface EngineOptions extends Omit<BoundOptions, 'checkpoint' | 'head' | 'speculative'> {
  /** The checkpoint: its folder (with config.json and *.safetensors, or one .gguf file), or its GGUF file. */
  readonly modelDir: string;
  /** What unquantized matrices become while they load: e4m3 with 128x128 blocks, or INT8 with a scale per row. */
  readonly quantization: LoadQuantization;
  /**
   * `headDir`: of method `mtp`, the folder of a checkpoint of the same model whose layer is taken; absent: the model's own.
   * Of methods `eagle3` and `draft_model`, the folder of the draft model.
   */
  readonly speculative: Speculation & { readonly headDir?: string };
}

export type ComputeDtype = 'auto' | 'bfloat16' | 'float32';
export type KvCacheDtype = 'auto' | 'fp8';
export type GpuVendor = 'cuda' | 'hip' | 'emulator';
export type DeviceKind = 'cpu' | GpuVendor;
export type CollectivesChoice = 'auto' | 'own' | 'library';
export type CpuIsa = 'auto' | 'float32' | 'portable' | 'avx2' | 'avx512' | 'avx512bf16' | 'amx';

/**
 * What an engine may take of a device or of the partition that it is: KV gets what is free, less what the share leaves
 * to others, less `graphBytes`. Clearly less than `plannedBlocks`, or than one sequence needs, is refused.
 */
export interface MemoryShare {
  readonly utilizationPercent: number;
  /** What the driver keeps for this process at most; what is held beyond it is another process's. */
  readonly contextBytes: Int64;
  /** What graphs, code that is loaded late and adapters may still take. */
  readonly graphBytes: Int64;
  readonly plannedBlocks: number;
}

/** How the next tokens of sequences are guessed, to be verified several at once. Outputs are the same without. */
export interface Speculation {
  /**
   * `ngram`: from the sequence itself; `mtp`: by the checkpoint's layer for multi-token prediction; `eagle3`: by an
   * EAGLE-3 draft model; `draft_model`: by a smaller model with the same tokenizer.
   */
  readonly method: DraftMethod;
  /** Most drafts of one sequence in one step; 0 where the method is none. */
  readonly tokens: number;
}

export type DraftMethod = 'none' | 'ngram' | 'mtp' | 'eagle3' | 'draft_model';

/** One rank's place in a group of ranks that have one model. */
export interface RankPlace {
  readonly rank: number;
  readonly size: number;
  /** Descriptor of the group's shared memory in this process, of which each node has its own; see `makeSegment`. */
  readonly segment: number;
  /** Null: all ranks are on this one. */
  readonly nodes: NodePlace | null;
  /**
   * Stages of equally many tensor-parallel ranks, in their order, among which the layers are divided; null: all ranks
   * are of one.
   */
  readonly stages: number | null;
}

/** Nodes that have the same number of ranks of one group each, in their order, and how they find each other. */
export interface NodePlace {
  /** Of this node; 0 leads. */
  readonly index: number;
  readonly count: number;
  /** Name or address of node 0. */
  readonly leader: string;
  /** There it listens. */
  readonly port: number;
  /** This node's, for people. */
  readonly name: string;
  /** JSON of what must be equal on all nodes: what differs is refused by name. */
  readonly plan: string;
  /** How long nodes wait for each other before they load. */
  readonly waitMs: number;
}

/**
 * Weights that still arrive: whoever fetches them says what is there in a file of one byte per piece, not 0 once the
 * piece is on disk. Headers are on disk from the start; every other read waits for its pieces.
 */
export interface ArrivalMap {
  /** Descriptor of that file in this process. */
  readonly descriptor: number;
  readonly pieceBytes: number;
  /** By name of a weight file, the byte of its first piece. A file that is not named is complete. */
  readonly firstPieces: Readonly<Record<string, number>>;
}

/** Facts of a loaded engine. */
export interface EngineInfo {
  readonly architecture: string;
  readonly isa: string;
  readonly threads: number;
  readonly vocabSize: number;
  readonly weightBytes: number;
  readonly workspaceBytes: number;
  /** KV blocks that there are. */
  readonly numBlocks: number;
  readonly kvBytesPerBlock: number;
  readonly stateBytesPerSeq: number;
  /** Inputs of recurrent layers that are kept until drafts are known to be right. */
  readonly draftBytesPerSeq: number;
  /** True when the model keeps recurrent state (then prefill chunks end on multiples of 64). */
  readonly hybrid: boolean;
  /** True when a position's attention sees all of its sequence: it is computed whole in one step, and only pooled. */
  readonly bidirectional: boolean;
  /** Who adds up for several ranks: `own`, or a library with its version, such as `NCCL 2.27.7`; null: the only rank. */
  readonly collectives: string | null;
  /** That the self-check of this rank took; null: it was off. */
  readonly selfCheckMs: number | null;
  /** Equal on two engines exactly where bytes of a block mean the same; null: without `transfer`. */
  readonly kvLayout: string | null;
}
