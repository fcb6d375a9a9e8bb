// What the process is doing, one kind at a time, and what health routes tell of it.
// States go one way: pulling → loading → serving → draining; failed may follow any. A lost engine is told by the engine.

import type { Failure } from '@llmservice/crds';
import type { LoadProgress } from '../weights/progress-meter.js';
import { ApiError } from '../request/api-error.js';
import type { GenerationEngine } from './engine-port.js';
import type { ServedModel } from './served-model.js';

type State =
  /** `waitingFor`: S3 is out of reach and the pull goes on when it is back. */
  | { readonly kind: 'pulling'; readonly waitingFor: Failure | null }
  | { readonly kind: 'loading'; readonly engine: GenerationEngine }
  | { readonly kind: 'serving'; readonly engine: GenerationEngine; readonly model: ServedModel }
  | { readonly kind: 'draining'; readonly engine: GenerationEngine | null }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Answer of /health and /healthz/ready. */
export interface HealthBody {
  readonly state: 'pulling' | 'loading' | 'serving' | 'restarting' | 'draining' | 'failed';
  readonly model: string;
  readonly load: LoadProgress | null;
  readonly engine: Readonly<Record<string, unknown>> | null;
  readonly failure: Failure | null;
}

export class Lifecycle {
  private state: State = { kind: 'pulling', waitingFor: null };
  private progress: () => LoadProgress | null = () => null;

  constructor(private readonly modelName: string) {}

  get engine(): GenerationEngine | null {
    return 'engine' in this.state ? this.state.engine : null;
  }

  get model(): ServedModel | null {
    return this.state.kind === 'serving' ? this.state.model : null;
  }

  get load(): LoadProgress | null {
    return this.state.kind === 'pulling' || this.state.kind === 'loading' ? this.progress() : null;
  }

  /** Where the figures of the running phase come from. */
  reportProgress(progress: () => LoadProgress | null): void {
    this.progress = progress;
  }

  waitForSource(failure: Failure | null): void {
    if (this.state.kind === 'pulling') this.state = { kind: 'pulling', waitingFor: failure };
  }

  startLoading(engine: GenerationEngine): void {
    if (this.state.kind === 'pulling') this.state = { kind: 'loading', engine };
  }

  startServing(engine: GenerationEngine, model: ServedModel): void {
    if (this.state.kind === 'loading') this.state = { kind: 'serving', engine, model };
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
        throw this.notReady();
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
      ? { ...state.info, numBlocks: state.numBlocks, maxModelLen: state.maxModelLen }
      : {};
  return { state: state.kind, ...ready, heartbeatAgeMs, restarts, inFlight, numericalFaults };
}
