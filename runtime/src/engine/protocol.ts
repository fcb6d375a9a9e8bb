// The messages between server process and engine process, and the shapes that request code builds on.
// Transport: child_process IPC with 'advanced' serialization, so typed arrays and bigint travel as they are.
// At most one 'step' message per engine step goes to the server, whatever the number of sequences.

import type { AdapterRoom, KvCacheDtype, LoadQuantization, Speculative } from '@llmservice/checkpoint';
import type { Failure } from '@llmservice/crds';
import type { ArrivalMap, EngineInfo, EngineOptions, GraphCounts, NodePlace } from '@llmservice/native';
import type { EngineDevice } from './engine-device.js';
import type { TransferStats } from '../disaggregation/transfer-counts.js';
import type {
  FinishReason,
  GenerateRequest,
  OfferedKv,
  PromptScore,
  TokenLogprobs,
} from '../schedule/generation.js';
import type { SchedulerStats } from '../schedule/scheduler.js';
import type { WarmupReport } from '../warmup/warm-up.js';
import type { Warmup } from '../warmup/warmup-shapes.js';

export type { FinishReason, GenerateRequest, PromptScore, TokenLogprobs };

/** What the engine process needs to load a model; complete, nothing is read from the environment later. */
export interface EngineSettings {
  /** The checkpoint: its folder, or its GGUF file. */
  readonly modelDir: string;
  /** Descriptors that this folder and `headDir` lead to, which its process inherits under their numbers. */
  readonly openFiles: readonly number[];
  /** Tokens of prompt plus output; null: the largest that fits. */
  readonly maxModelLen: number | null;
  readonly memoryUtilizationPercent: number;
  /** What runs the model; nothing falls back to another. */
  readonly accelerator: 'cpu' | 'cuda' | 'hip';
  /** Tensor-parallel ranks of a stage. */
  readonly tensor: number;
  /** Stages. */
  readonly pipeline: number;
  /** Where they are on several nodes, this one among them; null: all are on this one. */
  readonly nodes: NodeSettings | null;
  /** Memory the plan may count with; null: that of the device, or what the control group or the machine leaves. */
  readonly memoryBytesPerDevice: number | null;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
  readonly prefixCaching: boolean;
  readonly dtype: 'auto' | 'bfloat16' | 'float32';
  /** Of activations where they multiply a matrix on the CPU; auto: as the machine is fastest. */
  readonly exactness: 'auto' | 'float32';
  readonly kvCacheDtype: KvCacheDtype;
  /** What unquantized matrices become while they load. */
  readonly quantization: LoadQuantization;
  /**
   * `headDir`: the folder of the checkpoint that the layer of method mtp is taken from, absent: the model's own; of methods eagle3
   * and draft_model, the folder of the draft model.
   */
  readonly speculative: Speculative & { readonly headDir?: string };
  /** Who adds up for ranks on GPUs. */
  readonly collectives: EngineOptions['collectives'];
  readonly selfCheck: boolean;
  readonly warmup: Warmup;
  /** Compute threads of all ranks together; null: one per physical core. */
  readonly threads: number | null;
  readonly adapterRoom: AdapterRoom;
  /** Prefill and decode apart; null: this engine does both, for nobody else. */
  readonly disaggregation: EngineDisaggregation | null;
}

export type EngineDisaggregation =
  /** @param transferPort where rank 0 hands KV over, and rank r at so many more */
  | { readonly role: 'prefill'; readonly transferPort: number }
  | {
      readonly role: 'decode';
      /** Names and addresses of prefill pods, and the port at which they take prompts. */
      readonly hosts: readonly string[];
      readonly port: number;
      /** Of a prompt, beyond those that are cached here, for another to compute it. */
      readonly minTokens: number;
    };

/** This node among those that have the ranks of one engine. */
export interface NodeSettings extends Omit<NodePlace, 'plan'> {
  /** What is served, by names that are equal on all nodes. */
  readonly identity: Readonly<Record<string, unknown>>;
}

/** A LoRA adapter on this machine's disk. */
export interface EngineAdapter {
  readonly number: number;
  /** For messages. */
  readonly name: string;
  readonly dir: string;
}

/** What one engine step (or several, if the reader is slow) added to one generation. */
export interface EngineOutput {
  /** New tokens, never including the stop token. */
  readonly tokens: readonly number[];
  /** One entry per token; null unless `sampling.topLogprobs` asked for them. */
  readonly logprobs: readonly TokenLogprobs[] | null;
  /** Scores of the prompt's tokens from the second on, where asked for: all have come with the first token. Else null. */
  readonly promptScores: readonly PromptScore[] | null;
  /** Set on the last output only. */
  readonly finish: FinishReason | null;
  /** The id that ended generation, when `finish` is `stop`: generated and counted, but not part of the text. */
  readonly stopToken: number | null;
  /** Of the stop token, where `sampling.topLogprobs` asked for them; else null. */
  readonly stopLogprobs: TokenLogprobs | null;
  /** On the first output: milliseconds that the request waited before its first row ran. Else null. */
  readonly queueMs: number | null;
  /** On the first output: tokens of the prompt that the prefix cache had. Else null. */
  readonly cachedTokens: number | null;
  /** Times that the request lost its room to others, and waited again, since the output before. */
  readonly preemptions: number;
  /** How many of the tokens (a stop token included) were drafts that the model agreed with. */
  readonly acceptedDrafts: number;
  /** On the one output of a request with pooling that has `finish`: (hidden), not normalized. Else null. */
  readonly embedding: Float32Array | null;
  /** With `finish`, of a prompt that was computed for another engine. Else null. */
  readonly offered: OfferedKv | null;
}

/** Figures of the engine after a step. Totals count from the engine process's start. */
export interface EngineStats extends SchedulerStats {
  readonly stepsTotal: number;
  /** Tokens that the latest step ran, of prompts and answers, drafts included. */
  readonly stepTokens: number;
  /** Time in native steps, microseconds. */
  readonly stepMicrosTotal: number;
  /** Times a sequence's last tokens were 256 of one kind. */
  readonly repeatedTokenRunsTotal: number;
  /** Of rank 0, as of the latest step. */
  readonly graphs: GraphCounts;
  readonly transfers: TransferStats;
}

export type ServerMessage =
  /** `arrivals`: what of the weights is on disk while they are still pulled; null: all. */
  | {
      readonly type: 'start';
      readonly settings: EngineSettings;
      readonly arrivals: ArrivalMap | null;
      /** To be loaded before it is ready. */
      readonly adapters: readonly EngineAdapter[];
    }
  | { readonly type: 'submit'; readonly request: GenerateRequest }
  | { readonly type: 'cancel'; readonly id: string }
  | { readonly type: 'flushCache' }
  | { readonly type: 'loadAdapter'; readonly adapter: EngineAdapter }
  | { readonly type: 'unloadAdapter'; readonly number: number }
  | { readonly type: 'shutdown' };

/** The part of a step message that concerns one generation; `failure` ends it with an error. */
export interface SequenceUpdate extends EngineOutput {
  readonly id: string;
  readonly failure: Failure | null;
}

export type EngineMessage =
  | { readonly type: 'progress'; readonly bytesDone: number; readonly bytesTotal: number }
  /** Shapes that have run of those to run before the engine is ready. */
  | { readonly type: 'warmup'; readonly done: number; readonly total: number }
  /** Other nodes of the group, while they are waited for; empty: not any more. */
  | { readonly type: 'waiting'; readonly waitingFor: string }
  /** The first node refused who connected to its rank port: the last of so many, and why. */
  | { readonly type: 'refused'; readonly refusals: number; readonly caller: string }
  /** On nodes other than the first: all ranks of the group have loaded. */
  | { readonly type: 'loaded' }
  /** There: rank 0's engine has ended in peace; the process exits after it. */
  | { readonly type: 'ended' }
  | {
      readonly type: 'ready';
      readonly info: EngineInfo;
      readonly device: EngineDevice;
      /** KV blocks that the memory plan promised; `info` has those that there are. */
      readonly plannedBlocks: number;
      readonly maxModelLen: number;
      readonly warmup: WarmupReport;
    }
  /** How the load of an adapter ended; null: well. */
  | { readonly type: 'adapter'; readonly number: number; readonly failure: Failure | null }
  /** The load failed, or the engine met a fault that it does not survive; the process exits after it. */
  | { readonly type: 'failed'; readonly failure: Failure }
  /** Every second, also while loading and between steps; stepAgeMs: how long the step in flight has run. */
  | { readonly type: 'heartbeat'; readonly stepAgeMs: number | null }
  | { readonly type: 'step'; readonly updates: readonly SequenceUpdate[]; readonly stats: EngineStats };
