// The one declaration of the native addon; `npm run generate` writes src/bridge/structs.h from it, which says how C++ holds and
// reads what is declared here. Across the bridge: null, never undefined; no further fields; typed arrays are copied.
// One engine thread per Engine runs steps in order; promises settle on the JavaScript thread.

import type { LoadQuantization } from '@llmservice/checkpoint';

// What C++ holds numbers in: 32 bits, but for these.
export type Int64 = number;
export type Float32 = number;
export type Float64 = number;

/** Null: each of its fields has its neutral value. */
export type OrNeutral<T> = T | null;

declare const row: unique symbol;
/** Rows of equal length, one after the other, in the order of the row's fields. */
export type Flat<Row> = Int32Array & { readonly [row]?: Row };

/** What the addon needs to know of a checkpoint and of the room it may take. */
export interface BoundOptions {
  /** As describe-checkpoint.ts writes it. */
  readonly checkpoint: string;
  /** Another checkpoint of the same model, whose layer for multi-token prediction is taken; null: the model's own. */
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
  /** CPU instruction family; auto: the best this machine has. */
  readonly isa: CpuIsa;
  /** Report a hash of the logits behind each sampled token: for tests of identity, which pay a pass over the vocabulary. */
  readonly logitHashes: boolean;
  /** Of several tensor-parallel ranks, which one this is; null: the only one. */
  readonly place: RankPlace | null;
}

/** What `loadEngine` needs to know of a checkpoint and of the room it may take. */
export interface EngineOptions extends Omit<BoundOptions, 'checkpoint' | 'head' | 'speculative'> {
  /** The checkpoint: its folder (with config.json and *.safetensors, or one .gguf file), or its GGUF file. */
  readonly modelDir: string;
  /** What unquantized matrices become while they load: e4m3 with 128x128 blocks, or INT8 with a scale per row. */
  readonly quantization: LoadQuantization;
  /** `headDir`, of method `mtp`: the folder of a checkpoint of the same model whose layer is taken; absent: the model's own. */
  readonly speculative: Speculation & { readonly headDir?: string };
}

export type ComputeDtype = 'auto' | 'bfloat16' | 'float32';
export type KvCacheDtype = 'auto' | 'fp8';
export type GpuVendor = 'cuda' | 'hip' | 'emulator';
export type DeviceKind = 'cpu' | GpuVendor;
export type CollectivesChoice = 'auto' | 'own' | 'library';
export type CpuIsa = 'auto' | 'portable' | 'avx512';

/**
 * What an engine may take of a device or of the partition that it is: KV gets what is free, less what the share leaves
 * to others, less `graphBytes`. Clearly less than `plannedBlocks`, or than one sequence needs, is refused.
 */
export interface MemoryShare {
  readonly utilizationPercent: number;
  /** What the driver keeps for this process at most; what is held beyond it is another process's. */
  readonly contextBytes: Int64;
  /** What graphs and code that is loaded late may still take. */
  readonly graphBytes: Int64;
  readonly plannedBlocks: number;
}

/** How the next tokens of sequences are guessed, to be verified several at once. Outputs are the same without. */
export interface Speculation {
  /** `ngram`: from the sequence itself; `mtp`: by the checkpoint's layer for multi-token prediction. */
  readonly method: DraftMethod;
  /** Most drafts of one sequence in one step; 0 where the method is none. */
  readonly tokens: number;
}

export type DraftMethod = 'none' | 'ngram' | 'mtp';

/** One rank's place in a tensor-parallel group on this machine. */
export interface RankPlace {
  readonly rank: number;
  readonly size: number;
  /** Descriptor of the group's shared memory in this process; see `makeSegment`. */
  readonly segment: number;
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
  /** Who adds up for several ranks: `own`, or a library with its version, such as `NCCL 2.27.7`; null: the only rank. */
  readonly collectives: string | null;
}

/** Sampling of one sequence; every field has its value in `greedy` when not asked for. */
export interface SamplingParams {
  /** 0 is greedy. */
  readonly temperature: Float32;
  readonly topP: Float32;
  /** 0: off. */
  readonly topK: number;
  readonly minP: Float32;
  /** Locally typical sampling; 1: off. */
  readonly typicalP: Float32;
  readonly seed: bigint;
  readonly repetitionPenalty: Float32;
  readonly presencePenalty: Float32;
  readonly frequencyPenalty: Float32;
  /** Alternatives to report per token, 0–20; null: no logprobs at all. */
  readonly topLogprobs: number | null;
}

/** The likeliest token, no penalties, no logprobs: each field has its neutral value. */
export const greedy: SamplingParams = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  typicalP: 1,
  seed: 0n,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  topLogprobs: null,
};

/** What a request says of single tokens, whatever the model thinks of them. */
export interface TokenRules {
  /** Ids, each once. */
  readonly biased: Int32Array;
  /** What is added to the logit of each of `biased`, before the penalties. */
  readonly biases: Float32Array;
  /** Ids that alone may be generated, ascending; empty: all. */
  readonly allowed: Int32Array;
  /** Sequences of ids that generation must not complete, one after the other. */
  readonly banned: Int32Array;
  /** Where each of them ends in `banned`. */
  readonly bannedEnds: Int32Array;
  /** Tokens to generate before one of `stopTokens` may be. */
  readonly minTokens: number;
  /** Null: without bound. */
  readonly reasoning: ReasoningBudget | null;
}

/** The ids around a model's reasoning. */
export interface ReasoningIds {
  /** Null: the prompt begins it. */
  readonly begin: number | null;
  readonly end: number;
}

/** How long the model may reason before it has to answer: it comes before every other rule. */
export interface ReasoningBudget extends ReasoningIds {
  /** Between `begin` and `end`, which comes once they are spent. */
  readonly tokens: number;
}

export type Pooling = 'none' | 'last' | 'mean';

/** Puts a sequence into a free slot. After preemption it is admitted again with what it had generated. */
export interface Admission {
  readonly slot: number;
  /** Prompt, then tokens generated before a preemption. */
  readonly tokens: Int32Array;
  /**
   * How many of `tokens` are computed already: their KV lies in the blocks that the slot is given first. A whole number
   * of blocks, and at least one token is left; for hybrid models also a multiple of 64 within the prompt.
   */
  readonly cachedTokens: number;
  /** Where a hybrid model's state after `cachedTokens` was saved; null when it starts at 0 or keeps no state. */
  readonly snapshot: number | null;
  /** How many of `tokens` are the client's prompt (fixes the chunked/recurrent border of hybrid models). */
  readonly promptLength: number;
  /** Generation ends when the sequence has this many tokens, prompt included. */
  readonly maxLength: number;
  /** Ids that end generation (reported as `stop`, not part of the text). */
  readonly stopTokens: Int32Array;
  readonly sampling: SamplingParams;
  /** Report the logprobs of the prompt's own tokens too; needs `sampling.topLogprobs` and no `cachedTokens`. */
  readonly promptLogprobs: boolean;
  /**
   * Instead of tokens, the hidden state after the final norm: of the last token, or the mean of all (then no
   * `cachedTokens`). The sequence ends with its prompt: `maxLength` is its length.
   */
  readonly pooling: Pooling;
  /** What is generated must be; null: anything. */
  readonly constraint: Constraint | null;
  /** Null: none. Rules and constraint together may leave no token: a fault `deadEnd`. */
  readonly rules: OrNeutral<TokenRules>;
}

/**
 * `json`: any JSON object, no text; `jsonSchema`; `regex`: of the whole answer; `ebnf`: rules from `root`, as XGrammar
 * writes them; `format`: of XGrammar's structural tags; `toolCalls`: calls between marker tokens, as JSON (ToolCallsText).
 */
export type GrammarKind = 'json' | 'jsonSchema' | 'regex' | 'ebnf' | 'format' | 'toolCalls';

/** What a grammar of kind `toolCalls` is, as JSON. Formats are those of XGrammar's structural tags. */
export interface ToolCallsText {
  /** Ids around each call; they stand for no text elsewhere. */
  readonly begin: number;
  readonly end: number;
  /** Of the text between them. */
  readonly body: object;
  /** What an answer may be besides calls: nothing, anything, or instead of calls a text of a format. */
  readonly otherwise: null | true | object;
  /** Whether several calls may follow each other. */
  readonly many: boolean;
}

declare const compiledGrammar: unique symbol;
/** A grammar over one vocabulary, in native memory until it is collected. */
export interface CompiledGrammar {
  readonly [compiledGrammar]: true;
}

/** What the ids of a model stand for. */
export interface Vocabulary {
  /** Bytes of all ids, one after the other. */
  readonly bytes: Uint8Array;
  /** (V) end of each id's bytes. An id without bytes is no text: no grammar has it. */
  readonly ends: Uint32Array;
  /** Ids that end a text, where a grammar may end. */
  readonly stopTokens: Int32Array;
}

export interface Constraint {
  readonly grammar: CompiledGrammar;
  /** The grammar is of what follows reasoning, which a model may or may not begin itself; null: of all that it says. */
  readonly after: AwaitedReasoning | null;
}

export interface AwaitedReasoning extends ReasoningIds {
  /** What would end the whole, and may not come within. */
  readonly stops: Int32Array;
}

/** What one compilation may take. */
export interface CompileLimits {
  readonly cpuSeconds: Float64;
  /** Where others have the processors. */
  readonly wallSeconds: Float64;
  /** Without any processor time. */
  readonly stallSeconds: Float64;
  /** Beyond what the process has when it begins. */
  readonly memoryBytes: Int64;
  readonly resultBytes: Int64;
}

/** How a compilation ended. */
export interface CompileOutcome {
  readonly end: CompileEnd;
  /** Why, where there is more to say: of an invalid one for the client. */
  readonly message: string;
  /** That the file begins with, of a compiled one. */
  readonly bytes: number;
}

/**
 * `overMemory`: of the work or of its result; `crashed`: in the compiler, and would again; `lost`: by no fault of the
 * grammar; `killed`: by `kill`.
 */
export type CompileEnd = 'compiled' | 'invalid' | 'overTime' | 'overMemory' | 'crashed' | 'lost' | 'killed';

export interface Compilation {
  readonly outcome: Promise<CompileOutcome>;
  /** Idempotent. */
  kill(): void;
}

/** Files are descriptors that `makeMemoryFile` gave here or in the parent process. */
export interface GrammarCompiler {
  /** Makes here what most grammars share, so that the compilations that follow need not. Takes a part of a second. */
  warm(): void;
  /**
   * Compiles in a process of its own, a fork of this one, which should be small and do nothing else: what it takes is
   * bounded, it may be killed, and it ends with this process. The file is its alone meanwhile.
   */
  compileApart(kind: GrammarKind, text: string, file: number, limits: CompileLimits): Compilation;
  /** What `compileApart` wrote, with the same kind and text, for a compiler of the same vocabulary. Takes milliseconds. */
  read(kind: GrammarKind, text: string, file: number, bytes: number): Promise<CompiledGrammar>;
}

/**
 * One forward step over many sequences: the only way to compute. Order: releases, admissions, replacements, block
 * appends, rows, saves. A row entry advances its slot by `count` tokens from where the slot stands; when that
 * reaches the last known token, one new token is sampled and kept in the slot. Rows beyond it verify drafts that the
 * slot holds: each that is equal to the token sampled in its place gives one more token. Drafts are gone after the
 * slot's next step; how many new ones it holds then, the result says.
 *
 * A block whose tokens are all computed may be in any number of tables, and keeps its content when no table has it any
 * more, until it is appended to be written. A block that is still written to is in one table.
 */
export interface StepPlan {
  /** Slots to free. */
  readonly release: Int32Array;
  readonly admit: readonly Admission[];
  /** Appends to the slots' block tables. */
  readonly blocks: Flat<SlotBlock>;
  /** The sum of counts is at most maxNumBatchedTokens. */
  readonly rows: Flat<RowEntry>;
  readonly replace: Flat<Replacement>;
  /** Of hybrid models. */
  readonly saves: Flat<StateSave>;
  /**
   * Drafts to make at most for each sequence of this step that is left with one known token to compute; up to
   * speculative.tokens.
   */
  readonly drafts: number;
  /** Null: a step that counts. */
  readonly warmup: WarmupRun | null;
  /**
   * Made before the result of the step before it was known: rows and saves of sequences that have ended by then are left
   * out, and the result has nothing of them. Without it they break a rule.
   */
  readonly ahead: boolean;
}

export interface SlotBlock {
  readonly slot: number;
  readonly block: number;
}

/** At most `count` rows: known tokens, then drafts. 1 for a decode without drafts, and at most 1 more for each draft. */
export interface RowEntry {
  readonly slot: number;
  readonly count: number;
}

/** The slot's whole, computed block `index` is replaced by one with the same KV. */
export interface Replacement {
  readonly slot: number;
  readonly index: number;
  readonly block: number;
}

/**
 * Keeps the state after the slot's first `position` tokens, which rows of this step compute; a multiple of 64 within the
 * prompt, ascending within a slot.
 */
export interface StateSave {
  readonly slot: number;
  readonly position: number;
  readonly snapshot: number;
}

/**
 * Of a step that is run for its time alone, before an engine serves. `cachedTokens` of its admissions need neither
 * blocks that anybody has computed nor a snapshot: whatever lies there is taken. A row entry that goes beyond the known
 * tokens makes up its drafts, and sequences continue after any end. Once all slots that it admitted are released, nothing
 * is left of it.
 */
export interface WarmupRun {
  /** Drafts that each sequence's last step is taken to have had right, up to speculative.tokens. */
  readonly acceptedDrafts: number;
}

/** Why a sequence ended with this token. */
export const finishCodes = { none: 0, stop: 1, length: 2, numericalFault: 3 } as const;

/** One entry per sampled token; those of one slot stand together, in order, and slots in plan order. */
export interface StepResult {
  /** (S) slot of each token. */
  readonly slots: Int32Array;
  /** (S) sampled ids. */
  readonly tokens: Int32Array;
  /** (S) a value of finishCodes. */
  readonly finish: Uint8Array;
  /** (S) logprob of the sampled id under the unmodified distribution; NaN where not asked for. */
  readonly logprobs: Float32Array;
  /** (S+1) offsets into the two arrays below. */
  readonly topOffsets: Int32Array;
  readonly topTokens: Int32Array;
  readonly topLogprobs: Float32Array;
  /** Of each slot that holds drafts now: slot, count, and as many ids. */
  readonly drafts: Int32Array;
  /** (S) of the bits of the row that the id was sampled from; empty unless `logitHashes` was asked for. */
  readonly logitHashes: BigUint64Array;
  /** Of sequences that asked for them: prompt tokens (never the first) whose predecessor was computed in this step. */
  readonly prompt: PromptLogprobs;
  readonly embeddings: Embeddings;
  /** Of every sequence that ended in this step for a numerical fault, whether it was to sample or not. */
  readonly faults: readonly NumericalFault[];
  /** Rows that were computed: those of the plan, but of sequences that had ended. */
  readonly rows: number;
  /** Time inside the engine, in microseconds. */
  readonly computeMicros: number;
}

/** One entry per sequence with `pooling` whose prompt ended in this step. */
export interface Embeddings {
  /** (E) */
  readonly slots: Int32Array;
  /** (E, hidden), not normalized. */
  readonly values: Float32Array;
}

/** What is wrong with a sequence's numbers, and where in the forward pass it was first seen; or that it cannot continue. */
export interface NumericalFault {
  readonly slot: number;
  /** Index of the token whose row it was first seen in. */
  readonly position: number;
  readonly kind: FaultKind;
  /** Null: before the first layer, or after the last. */
  readonly layer: number | null;
  /** The op whose output it is: `embedding`, `input norm`, `attention`, `Gated DeltaNet`, `feed-forward` and so on. */
  readonly part: string;
}

/**
 * `notFinite`: NaN or infinity; `collapsed`: all logits are equal; `stuck`: one token came out again and again, from
 * logits equal to the last bit; `deadEnd`: the numbers are sound, and its constraint and rules allow no token;
 * `slowConstraint`: its constraint took longer to compute what it allows than the other sequences of a step can wait.
 */
export type FaultKind = 'notFinite' | 'collapsed' | 'stuck' | 'deadEnd' | 'slowConstraint';

/** One entry per prompt token, in plan order and then by position. */
export interface PromptLogprobs {
  /** (P) */
  readonly slots: Int32Array;
  /** (P) index of the token in its sequence. */
  readonly positions: Int32Array;
  /** (P) logprob of that token, given those before it. */
  readonly logprobs: Float32Array;
  /** (P) its place among all tokens by logprob, 1 for the most likely. */
  readonly ranks: Int32Array;
  /** (P+1) offsets into the two arrays below. */
  readonly topOffsets: Int32Array;
  readonly topTokens: Int32Array;
  readonly topLogprobs: Float32Array;
}

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
   * goes with the last process that holds it. @throws SharedMemoryTooSmall
   */
  makeSegment(ranks: number): number;
  /** From now on the kernel kills this process when the thread that started it ends. */
  dieWithParent(): void;
  /**
   * From now on no other process of the same user can trace this one or read its environment, memory and open files.
   * Those that it starts can be traced.
   */
  denyTracing(): void;
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
