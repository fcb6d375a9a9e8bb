// The server's side of the engine: follows its state, gives each request its outputs, and starts its process again when
// that is lost. A lost engine ends the requests that it had with EngineFault; later ones wait for the new engine. One
// with non-finite logits is given up likewise: rebuilt once, and then for good.

import type { Failure } from '@llmservice/crds';
import type { ArrivalMap } from '@llmservice/native';
import type { Logger } from 'winston';
import { EngineAdapters } from './engine-adapters.js';
import { EngineChild, type ChildLimits, type EngineNews } from './engine-child.js';
import type { EngineHealth, EngineState } from './engine-state.js';
import { Flights, toError } from './flights.js';
import { NumericalWatch } from './numerical-watch.js';
import type {
  EngineOutput,
  EngineSettings,
  EngineStats,
  GenerateRequest,
  SequenceUpdate,
} from './protocol.js';
import { RestartBackOff, type BackOffLimits } from './restart-back-off.js';
import { findUnsound, isProbe } from './probe-requests.js';

/** Times in milliseconds. */
export interface EngineLimits extends ChildLimits, BackOffLimits {}

export const defaultLimits: EngineLimits = {
  heartbeat: 3_500,
  firstHeartbeat: 30_000,
  step: 600_000,
  shutdown: 5_000,
  backOff: 30_000,
  healthy: 60_000,
};

const nothing = { bytesDone: 0, bytesTotal: 0 };

const stopped: Failure = { reason: 'EngineFault', message: 'the server is shutting down' };

/** Of an engine that is started again: it may go away. What is left of the one before may still hold the device. */
const passes = ({ reason }: Failure): boolean => reason === 'EngineFault' || reason === 'DeviceMemoryTaken';

type Ready = Extract<EngineNews, { type: 'ready' }>;

/** One engine, over all the processes that it has been. */
export class EngineClient {
  readonly #settings: EngineSettings;
  readonly #logger: Logger;
  readonly #limits: EngineLimits;
  readonly #arrivals: ArrivalMap | null;
  readonly #flights = new Flights((message) => this.#child?.send(message));
  readonly #adapters = new EngineAdapters((message) => this.#child?.send(message));
  readonly #numbers = new NumericalWatch();
  readonly #backOff: RestartBackOff;
  #state: EngineState = { kind: 'loading', loaded: nothing, warmup: null, waitingFor: '' };
  #child: EngineChild | null = null;
  #stats: EngineStats | null = null;
  #readyAt = 0;
  #restarts = 0;
  #restartTimer: NodeJS.Timeout | null = null;
  #stepped: (stats: EngineStats) => void = () => undefined;
  #settled: () => void = () => undefined;

  /** @param arrivals what of the weights is on disk while they are still pulled, open until `stop`; null: all */
  constructor(
    settings: EngineSettings,
    logger: Logger,
    limits: EngineLimits = defaultLimits,
    arrivals: ArrivalMap | null = null,
  ) {
    this.#settings = settings;
    this.#logger = logger;
    this.#limits = limits;
    this.#arrivals = arrivals;
    this.#backOff = new RestartBackOff(limits);
  }

  /** Figures after the latest step; null before the first. */
  get stats(): EngineStats | null {
    return this.#stats;
  }

  /** Calls it after each step from now on, also those of a process that is started again. */
  onStep(listener: (stats: EngineStats) => void): void {
    this.#stepped = listener;
  }

  health(): EngineHealth {
    return {
      state: this.#state,
      pid: this.#child?.pid ?? null,
      heartbeatAgeMs: this.#child?.silentMs ?? null,
      restarts: this.#restarts,
      inFlight: this.#flights.size,
      numericalFaults: this.#numbers.counts,
    };
  }

  /** Resolves when the engine is ready, has failed or was stopped: `health().state` says which. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
      this.#launch();
    });
  }

  /**
   * Outputs until one has `finish`. Leaving the loop, or the signal, cancels within one step, but for a row that waits behind it.
   * @throws FailureError when the engine is lost or refuses the request
   */
  async *submit(
    request: GenerateRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<EngineOutput> {
    if (this.#state.kind === 'failed') throw toError(this.#state.failure);
    if (this.#state.kind === 'stopped') throw toError(stopped);
    yield* this.#flights.open(request, signal, this.#state.kind === 'ready');
  }

  /** Nobody fetches any more what a prompt became that was computed for another engine. Idempotent. */
  withdraw(ticket: string): void {
    this.#child?.send({ type: 'cancel', id: ticket });
  }

  /** Empties the prefix cache before the next step. */
  flushCache(): void {
    this.#child?.send({ type: 'flushCache' });
  }

  /** Of the process that runs and of those after it. Before `start` nothing is awaited. */
  get adapters(): EngineAdapters {
    return this.#adapters;
  }

  /** Ends the engine process; requests in flight end with an error. Idempotent. */
  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    this.#flights.fail(stopped, 'all');
    this.#settled();
    await this.#child?.shutdown();
  }

  #launch(): void {
    this.#restartTimer = null;
    try {
      const listener = {
        news: (news: EngineNews): void => this.#hear(news),
        ended: (cause: Failure): void => this.#ended(cause),
      };
      const adapters = this.#adapters.give();
      this.#child = new EngineChild(this.#settings, this.#arrivals, this.#limits, listener, adapters);
    } catch (error) {
      // Node throws some of the reasons why a process cannot be made, and reports others later.
      this.#ended({
        reason: 'EngineFault',
        message: `the engine process cannot be made: ${(error as Error).message}`,
      });
    }
  }

  #hear(news: EngineNews): void {
    switch (news.type) {
      case 'progress':
        if (this.#state.kind === 'loading' || this.#state.kind === 'restarting') {
          const { bytesDone, bytesTotal } = news;
          this.#state = { ...this.#state, loaded: { bytesDone, bytesTotal } };
        }
        return;
      case 'warmup':
        if (this.#state.kind === 'loading' || this.#state.kind === 'restarting') {
          const { done, total } = news;
          this.#state = { ...this.#state, warmup: { done, total } };
        }
        return;
      case 'waiting':
        if (this.#state.kind === 'loading' || this.#state.kind === 'restarting') {
          const { waitingFor } = news;
          this.#state = { ...this.#state, waitingFor };
          if (waitingFor !== '') this.#logger.info('waiting for other nodes', { waitingFor });
        }
        return;
      case 'refused':
        this.#logger.warn('refused a caller at the rank port', {
          caller: news.caller,
          refusals: news.refusals,
        });
        return;
      case 'ready':
        void this.#readyIfSound(news);
        return;
      case 'loaded':
      case 'ended':
        // Of a node that has no client of an engine (runtime/src/node-worker.ts).
        return;
      case 'adapter':
        this.#adapters.ended(news.number, news.failure);
        return;
      case 'step':
        if (news.stats.stepsTotal !== (this.#stats?.stepsTotal ?? 0)) this.#stepped(news.stats);
        this.#sayRefusedGraphs(news.stats);
        this.#stats = news.stats;
        for (const update of news.updates) this.#update(update);
    }
  }

  /** Once per engine process: steps continue, slower. */
  #sayRefusedGraphs({ graphs }: EngineStats): void {
    const before = this.#stats?.graphs.refused ?? 0;
    if (graphs.refused === 0 || before > 0) return;
    this.#logger.warn('the device has no room for more graphs of launches', { ...graphs });
  }

  #update(update: SequenceUpdate): void {
    this.#flights.update(update);
    const { id, failure, finish } = update;
    if (isProbe(id)) return;
    if (failure?.reason === 'EngineNumericalFault') this.#numericalFault(id, failure);
    else if (finish !== null) this.#numbers.answered();
  }

  #numericalFault(id: string, cause: Failure): void {
    this.#logger.error('numerical fault', { id, cause });
    if (this.#numbers.faulted(cause) && this.#state.kind === 'ready') {
      void this.#giveUpIfUnsound(this.#state.info);
    }
  }

  async #readyIfSound(ready: Ready): Promise<void> {
    if (await this.#giveUpIfUnsound(ready.info)) this.#ready(ready);
  }

  /** Asks the engine itself; false when it was given up, or lost meanwhile. */
  async #giveUpIfUnsound(info: Ready['info']): Promise<boolean> {
    const child = this.#child;
    const unsound = await findUnsound(this.#flights, info);
    if (child !== this.#child) return false;
    if (unsound !== null) {
      const message = `the engine answers no request soundly, not even of one token: ${unsound.message}`;
      child?.kill({ ...unsound, message });
      return false;
    }
    this.#numbers.answered();
    return true;
  }

  #ready({ info, device, plannedBlocks, maxModelLen, warmup }: Ready): void {
    if (this.#state.kind === 'stopped') return;
    this.#state = { kind: 'ready', info, device, plannedBlocks, maxModelLen, warmup };
    this.#readyAt = performance.now();
    this.#adapters.ready();
    const { ran, leftOut, seconds } = warmup;
    this.#logger.info('engine ready', {
      pid: this.#child?.pid,
      numBlocks: info.numBlocks,
      plannedBlocks,
      maxModelLen,
      device,
      collectives: info.collectives,
      selfCheckMs: info.selfCheckMs,
      warmup: { ran, seconds },
    });
    if (leftOut.length > 0) this.#logger.warn('the warm-up ended at its time limit', { ran, leftOut });
    this.#flights.sendAll();
    this.#settled();
  }

  #ended(cause: Failure): void {
    this.#child = null;
    this.#stats = null;
    this.#adapters.lost(cause);
    if (this.#state.kind === 'stopped') return;
    const served = this.#state.kind === 'ready';
    if (!served && (this.#state.kind === 'loading' || !passes(cause))) this.#giveUp(cause);
    else this.#restart(cause, served ? performance.now() - this.#readyAt : 0);
  }

  #giveUp(failure: Failure): void {
    this.#state = { kind: 'failed', failure };
    this.#logger.error('engine failed', { cause: failure });
    this.#flights.fail(failure, 'all');
    this.#settled();
  }

  #restart(cause: Failure, servedMs: number): void {
    this.#state = { kind: 'restarting', cause, loaded: nothing, warmup: null, waitingFor: '' };
    this.#flights.fail(cause, 'sent');
    this.#restarts++;
    const delayMs = this.#backOff.delayAfter(servedMs);
    this.#logger.error('engine lost, starting it again', { cause, restarts: this.#restarts, delayMs });
    this.#restartTimer = setTimeout(() => this.#launch(), delayMs);
  }
}
