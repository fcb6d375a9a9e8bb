// The engine as the server sees it: what it is doing now, and what health endpoints report.

import type { Failure } from '@llmservice/crds';
import type { EngineInfo } from '@llmservice/native';
import type { WarmupReport } from '../warmup/warm-up.js';
import type { EngineDevice } from './engine-device.js';
import type { FaultCounts } from './numerical-watch.js';

/** Stored bytes of weights that are in memory so far. */
export interface LoadedBytes {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

/** Shapes that have run before the engine is ready. */
export interface WarmedUp {
  readonly done: number;
  readonly total: number;
}

/** State of the engine process, one kind at a time. */
export type EngineState =
  /** Not started yet, or loading for the first time. */
  | {
      readonly kind: 'loading';
      readonly loaded: LoadedBytes;
      readonly warmup: WarmedUp | null;
      /** Other nodes of the group; empty: none is waited for. */
      readonly waitingFor: string;
    }
  | {
      readonly kind: 'ready';
      readonly info: EngineInfo;
      readonly device: EngineDevice;
      /** KV blocks that the memory plan promised; `info` has those that there are. */
      readonly plannedBlocks: number;
      /** Tokens of prompt plus output of one sequence. */
      readonly maxModelLen: number;
      readonly warmup: WarmupReport;
    }
  /** The engine was lost after it had served; requests submitted now wait for the new one. */
  | {
      readonly kind: 'restarting';
      readonly cause: Failure;
      readonly loaded: LoadedBytes;
      readonly warmup: WarmedUp | null;
      readonly waitingFor: string;
    }
  /** Given up: the failure is what the server should end with. */
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'stopped' };

/** What health routes report in addition to the state. */
export interface EngineHealth {
  readonly state: EngineState;
  readonly pid: number | null;
  /** Milliseconds since the last sign of life; null when there is no process. */
  readonly heartbeatAgeMs: number | null;
  /** Times the engine process was lost and started again. */
  readonly restarts: number;
  /** Requests submitted and not ended. */
  readonly inFlight: number;
  /** Requests that ended because of non-finite or degenerate logits, by kind. */
  readonly numericalFaults: FaultCounts;
}
