// What the process is doing, one kind at a time, and what health routes report of it.
// States go one way: pulling → loading → serving → draining; failed may follow any, and after unloaded it begins anew.
// The engine loads what is there while the rest is still pulled. A lost engine is reported by the engine.

import type { AdapterReport, Failure } from '@llmservice/crds';
import type { WarmedUp } from '../../engine/engine-state.js';
import type { Bytes, LoadProgress } from '../../weights/progress-meter.js';
import { ApiError } from '../../request/body/api-error.js';
import type { GenerationEngine } from './engine-port.js';
import type { ServedModel } from './served-model.js';

type State =
  /** `waitingFor`: S3 is out of reach and the pull continues when it is back. */
  | {
      readonly kind: 'pulling';
      readonly waitingFor: Failure | null;
      readonly engine: GenerationEngine | null;
    }
  /** Everything is on disk; the engine may still be about to start. */
  | { readonly kind: 'loading'; readonly engine: GenerationEngine | null }
  | { readonly kind: 'serving'; readonly engine: GenerationEngine; readonly model: ServedModel }
  | { readonly kind: 'unloaded' }
  | { readonly kind: 'draining'; readonly engine: GenerationEngine | null }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Answer of /health and /healthz/ready. */
export interface HealthBody {
  readonly state: 'pulling' | 'loading' | 'serving' | 'restarting' | 'unloaded' | 'draining' | 'failed';
  readonly model: string;
  readonly load: LoadReport | null;
  readonly engine: Readonly<Record<string, unknown>> | null;
  readonly failure: Failure | null;
  /** Absent where there is no list of adapters. */
  readonly adapters?: AdapterReport;
}

/** The phase that is waited for, which is the pull until all is on disk, and how far each of the two is. */
export interface LoadReport extends Omit<LoadProgress, 'phase'> {
  readonly phase: LoadProgress['phase'] | 'warmup';
  /** Null where nothing is pulled. */
  readonly pulled: Bytes | null;
  /** Null before the engine reads. */
  readonly loaded: Bytes | null;
  /** Null before the engine has all weights in memory, and where it runs nothing before requests. */
  readonly warmup: WarmedUp | null;
}

const begun: State = { kind: 'pulling', waitingFor: null, engine: null };

export class Lifecycle {
  private state: State = begun;
  private progress: () => LoadReport | null = () => null;
  private adapters: (() => AdapterReport) | null = null;

  constructor(private readonly modelName: string) {}

  get engine(): GenerationEngine | null {
    return 'engine' in this.state ? this.state.engine : null;
  }

  get model(): ServedModel | null {
    return this.state.kind === 'serving' ? this.state.model : null;
  }

  get isLoading(): boolean {
    return this.state.kind === 'pulling' || this.state.kind === 'loading';
  }

  get load(): LoadReport | null {
    return this.isLoading ? this.progress() : null;
  }

  /** Where the figures of the running phase come from. */
  reportProgress(progress: () => LoadReport | null): void {
    this.progress = progress;
  }

  /** How far the list of adapters is loaded. */
  reportAdapters(report: () => AdapterReport): void {
    this.adapters = report;
  }

  waitForSource(failure: Failure | null): void {
    if (this.state.kind === 'pulling') this.state = { ...this.state, waitingFor: failure };
  }

  /** A model is to be loaded. */
  startPulling(): void {
    if (this.state.kind !== 'draining') this.state = begun;
  }

  /** The engine that loads. */
  setEngine(engine: GenerationEngine): void {
    if (this.state.kind === 'pulling' || this.state.kind === 'loading')
      this.state = { ...this.state, engine };
  }

  /** Everything is on disk. */
  startLoading(): void {
    if (this.state.kind === 'pulling') this.state = { kind: 'loading', engine: this.state.engine };
  }

  startServing(engine: GenerationEngine, model: ServedModel): void {
    if (this.state.kind === 'loading') this.state = { kind: 'serving', engine, model };
  }

  unloaded(): void {
    if (this.state.kind !== 'draining' && this.state.kind !== 'failed') this.state = { kind: 'unloaded' };
  }

  startDraining(): void {
    if (this.state.kind !== 'failed') this.state = { kind: 'draining', engine: this.engine };
  }

  fail(failure: Failure): void {
    this.state = { kind: 'failed', failure };
  }

  /**
   * Engine and model, for a request that is to be generated now.
   * @throws ApiError model_not_ready (with progress), draining, or the failure
   */
  requireServing(): { readonly engine: GenerationEngine; readonly model: ServedModel } {
    const { state } = this;
    switch (state.kind) {
      case 'serving':
        return state;
      case 'failed':
        throw ApiError.ofFailure(state.failure);
      case 'draining':
        throw ApiError.of('draining', 'this replica is shutting down; send the request again', {
          retryAfterSeconds: 1,
        });
      case 'pulling':
      case 'loading':
      case 'unloaded':
        throw this.notReady();
    }
  }

  /**
   * What is made with the model's parts alone, such as the tokens of a text.
   * @throws ApiError as `requireServing`, also where the model goes meanwhile and takes its parts with it
   */
  async withModel<T>(make: (model: ServedModel) => Promise<T>): Promise<T> {
    const { model } = this.requireServing();
    try {
      return await make(model);
    } catch (error) {
      if (error instanceof ApiError || this.state.kind === 'draining' || this.model === model) throw error;
      const message =
        'the model was unloaded meanwhile: send the request again once one is loaded, or elsewhere';
      throw ApiError.of('model_not_ready', message, { retryAfterSeconds: 5 });
    }
  }

  health(): HealthBody {
    const health = this.engine?.health() ?? null;
    const restarting =
      this.state.kind === 'serving' && health?.state.kind === 'restarting' ? health.state : null;
    return {
      state: restarting === null ? this.state.kind : 'restarting',
      model: this.modelName,
      load: this.load,
      engine: health === null ? null : describeEngine(health),
      failure: restarting?.cause ?? this.failure,
      ...(this.adapters === null ? {} : { adapters: this.adapters() }),
    };
  }

  private get failure(): Failure | null {
    if (this.state.kind === 'failed') return this.state.failure;
    return this.state.kind === 'pulling' ? this.state.waitingFor : null;
  }

  private notReady(): ApiError {
    const load = this.load;
    const retryAfterSeconds = Math.min(60, Math.max(1, load?.etaSeconds ?? 5));
    if (load === null || load.bytesTotal === 0) {
      return ApiError.of('model_not_ready', 'the model is not loaded yet', { retryAfterSeconds });
    }
    if (load.phase === 'warmup' && load.warmup !== null) {
      const { done, total } = load.warmup;
      const shapes = `${String(done)} of ${String(total)} shapes`;
      return ApiError.of('model_not_ready', `the model is loaded and warms up: ${shapes}`, {
        retryAfterSeconds: 1,
      });
    }
    const percent = Math.floor((100 * load.bytesDone) / load.bytesTotal);
    const eta = load.etaSeconds === null ? '' : `, about ${String(load.etaSeconds)} s left`;
    const message =
      `the model is not loaded yet: ${load.phase} at ${String(percent)} % ` +
      `(${String(load.bytesDone)} of ${String(load.bytesTotal)} bytes${eta})`;
    return ApiError.of('model_not_ready', message, { retryAfterSeconds });
  }
}

type EngineHealth = ReturnType<GenerationEngine['health']>;

function describeEngine({
  state,
  heartbeatAgeMs,
  restarts,
  inFlight,
  numericalFaults,
}: EngineHealth): Record<string, unknown> {
  const ready =
    state.kind === 'ready'
      ? {
          ...state.info,
          device: state.device,
          plannedBlocks: state.plannedBlocks,
          maxModelLen: state.maxModelLen,
          warmup: {
            ran: state.warmup.ran,
            leftOut: state.warmup.leftOut.length,
            seconds: state.warmup.seconds,
          },
        }
      : {};
  const waitingFor = 'waitingFor' in state && state.waitingFor !== '' ? { waitingFor: state.waitingFor } : {};
  return { state: state.kind, ...ready, ...waitingFor, heartbeatAgeMs, restarts, inFlight, numericalFaults };
}
