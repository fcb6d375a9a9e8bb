// Hears of everything that moves during a load: feeds the figures of health routes and the watch for stalls. The
// engine loads while weights are still pulled, so that each of the two has a meter of its own.

import { stores } from '@llmservice/crds';
import type { EngineHealth, WarmedUp } from './engine/engine-state.js';
import type { GenerationEngine } from './http/replica/engine-port.js';
import type { Lifecycle, LoadReport } from './http/replica/lifecycle.js';
import type { Logger } from './log/logger.js';
import type { UnavailableError } from './weights/checkpoint-source.js';
import { ProgressMeter, type Bytes } from './weights/progress-meter.js';
import type { PullObserver } from './weights/pull-files.js';
import type { AvailabilityObserver } from './weights/retry.js';
import type { StallWatch } from './weights/stall-watch.js';

export class LoadObserver implements PullObserver, AvailabilityObserver {
  private pull: ProgressMeter | null = null;
  private load: ProgressMeter | null = null;
  private isPulled = false;
  private warmup: WarmedUp | null = null;
  private restarts = 0;
  private waiting = false;

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly stall: StallWatch,
    private readonly logger: Logger,
    private readonly now: () => number,
  ) {
    lifecycle.reportProgress(() => this.report());
  }

  /** A model is to be loaded: what was heard of the last one is forgotten. */
  started(): void {
    this.pull = null;
    this.load = null;
    this.isPulled = false;
    this.warmup = null;
    this.waiting = false;
    this.stall.progress('the load began');
    this.lifecycle.startPulling();
  }

  begin(bytesDone: number, bytesTotal: number): void {
    this.pull = new ProgressMeter('pull', bytesTotal, bytesDone, this.now);
    this.stall.progress(`pull began at ${String(bytesDone)} of ${String(bytesTotal)} bytes`);
    this.logger.info('pull began', { bytesDone, bytesTotal });
  }

  received(bytes: number): void {
    this.pull?.add(bytes);
    if (bytes > 0) this.stall.progress(`${String(this.pull?.read().bytesDone ?? 0)} bytes pulled`);
  }

  alive(): void {
    this.stall.progress('a pulled file is being verified');
  }

  elsewhere(): void {
    this.stall.progress('another process of the node pulls the checkpoint');
  }

  /** A source that is known to be down is no stall: starting again would not bring it back. */
  unavailable(error: UnavailableError): void {
    const { unavailable, words } = stores[error.store];
    this.stall.progress(`${words} does not answer: ${error.message}`);
    this.lifecycle.waitForSource({ reason: unavailable, message: error.message });
    if (!this.waiting) this.logger.warn(`waiting for ${words}`, { error: error.message });
    this.waiting = true;
  }

  available(): void {
    if (!this.waiting) return;
    this.waiting = false;
    this.lifecycle.waitForSource(null);
    this.logger.info('the checkpoint can be read again');
  }

  engineStarted(engine: GenerationEngine): void {
    this.load = null;
    this.warmup = null;
    this.restarts = 0;
    this.lifecycle.setEngine(engine);
  }

  /** All is on disk and verified. */
  pulled(): void {
    this.isPulled = true;
    this.stall.progress('the checkpoint is complete');
    this.lifecycle.startLoading();
    this.logger.info('checkpoint complete', { loaded: this.load?.read().bytesDone ?? 0 });
  }

  /** What an engine is at before it serves, for the first time or again: true while it is. */
  engineLoads({ state, restarts }: Pick<EngineHealth, 'state' | 'restarts'>): boolean {
    if (state.kind !== 'loading' && state.kind !== 'restarting') return false;
    if (restarts !== this.restarts) {
      this.restarts = restarts;
      this.load = null;
      this.warmup = null;
      this.stall.progress('the engine was lost and is started again');
    }
    // How long nodes wait for each other is bounded where they do, and the failure says for whom.
    if (state.waitingFor !== '') this.stall.progress(`the engine waited for ${state.waitingFor}`);
    this.loaded(state.loaded);
    this.warmedUp(state.warmup);
    return true;
  }

  /** The engine reads the weights into memory. */
  loaded({ bytesDone, bytesTotal }: Bytes): void {
    if (bytesTotal === 0 || this.load?.read().bytesDone === bytesDone) return;
    this.load ??= new ProgressMeter('load', bytesTotal, bytesDone, this.now);
    this.load.set(bytesDone, bytesTotal);
    this.stall.progress(`the engine loaded ${String(bytesDone)} of ${String(bytesTotal)} bytes`);
  }

  /** The engine runs steps before its first request; null: not yet. */
  warmedUp(warmup: WarmedUp | null): void {
    if (warmup === null || warmup.total === 0 || warmup.done === this.warmup?.done) return;
    this.warmup = warmup;
    this.stall.progress(`the engine warmed up for ${String(warmup.done)} of ${String(warmup.total)} shapes`);
  }

  private report(): LoadReport | null {
    const pulled = this.pull?.read() ?? null;
    const loaded = this.load?.read() ?? null;
    const waitedFor = this.isPulled ? loaded : (pulled ?? loaded);
    if (waitedFor === null) return null;
    const phase = this.isPulled && this.warmup !== null ? 'warmup' : waitedFor.phase;
    return { ...waitedFor, phase, pulled: bytesOf(pulled), loaded: bytesOf(loaded), warmup: this.warmup };
  }
}

function bytesOf(progress: Bytes | null): Bytes | null {
  return progress === null ? null : { bytesDone: progress.bytesDone, bytesTotal: progress.bytesTotal };
}
