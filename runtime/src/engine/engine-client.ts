// The server's side of the engine process: forks it, follows its state, gives each request its outputs, and starts
// it again when it is lost. A lost engine ends the requests that it had with EngineFault; later ones wait for the
// new engine. One whose numbers mean nothing is given up likewise: rebuilt once, and then for good.

import type { Failure } from '@llmservice/crds';
import type { ArrivalMap } from '@llmservice/native';
import { fork, type ChildProcess, type StdioOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'winston';
import type { EngineHealth, EngineState } from './engine-state.js';
import { failureOf } from './failure-of.js';
import { Flights, toError } from './flights.js';
import { NumericalWatch } from './numerical-watch.js';
import type {
  EngineMessage,
  EngineOutput,
  EngineSettings,
  EngineStats,
  GenerateRequest,
  SequenceUpdate,
  ServerMessage,
} from './protocol.js';
import { isSelfCheck, selfCheckRequests } from './self-check.js';

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = fileURLToPath(new URL('../../dist/engine/engine-process.js', import.meta.url));

/** Times in milliseconds. */
export interface EngineLimits {
  /** Without a sign of life for this long the process is killed and started again. */
  readonly heartbeat: number;
  /** The same until the first sign, which comes once the process has started. */
  readonly firstHeartbeat: number;
  /** A step that runs longer hangs. */
  readonly step: number;
  /** From asking the process to end to killing it. */
  readonly shutdown: number;
  /** First restart at once, then doubling from a second up to this. */
  readonly backOff: number;
  /** After serving this long the back-off begins anew. */
  readonly healthy: number;
}

const defaultLimits: EngineLimits = {
  heartbeat: 3_500,
  firstHeartbeat: 30_000,
  step: 600_000,
  shutdown: 5_000,
  backOff: 30_000,
  healthy: 60_000,
};

const lookEveryMs = 500;

/** Where the engine process finds what of the weights is on disk: after the standard streams and the channel. */
const inheritedArrivals = 4;

type Ready = Extract<EngineMessage, { type: 'ready' }>;

/** One engine, over all the processes that it has been. */
export class EngineClient {
  readonly #settings: EngineSettings;
  readonly #logger: Logger;
  readonly #limits: EngineLimits;
  readonly #arrivals: ArrivalMap | null;
  readonly #flights = new Flights((message) => this.#send(message));
  #state: EngineState = { kind: 'loading', loaded: { bytesDone: 0, bytesTotal: 0 } };
  #process: ChildProcess | null = null;
  #stats: EngineStats | null = null;
  readonly #numbers = new NumericalWatch();
  #lastSignAt = 0;
  /** Looks since the last sign of life. When this process stood still too, it did not look. */
  #silentLooks = 0;
  /** Whether the process has given a sign of life. */
  #alive = false;
  #readyAt = 0;
  #restarts = 0;
  #lossesInARow = 0;
  #restartTimer: NodeJS.Timeout | null = null;
  #watch: NodeJS.Timeout | null = null;
  /** Why the process was killed or ended itself, when that is known before its exit is. */
  #lastWords: Failure | null = null;
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
  }

  /** Figures after the latest step; null before the first. */
  get stats(): EngineStats | null {
    return this.#stats;
  }

  health(): EngineHealth {
    return {
      state: this.#state,
      pid: this.#process?.pid ?? null,
      heartbeatAgeMs: this.#process === null ? null : Math.round(performance.now() - this.#lastSignAt),
      restarts: this.#restarts,
      inFlight: this.#flights.size,
      numericalFaults: this.#numbers.counts,
    };
  }

  /** Resolves when the engine is ready, has failed or was stopped: `health().state` tells which. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
      this.#watch = setInterval(() => this.#killIfHung(), lookEveryMs);
      this.#launch();
    });
  }

  /**
   * Outputs until one has `finish`. Leaving the loop, or the signal, cancels within one step.
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

  /** Ends the engine process; requests in flight end with an error. Idempotent. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#state = { kind: 'stopped' };
    if (this.#watch !== null) clearInterval(this.#watch);
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    this.#flights.fail(stopped, 'all');
    this.#settled();
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#send({ type: 'shutdown' });
    const kill = setTimeout(() => child.kill('SIGKILL'), this.#limits.shutdown);
    await ended;
    clearTimeout(kill);
  }

  #launch(): void {
    this.#restartTimer = null;
    this.#lastWords = null;
    this.#sawLife();
    this.#alive = false;
    const arrivals = this.#arrivals;
    const stdio = [
      'inherit',
      'inherit',
      'inherit',
      'ipc',
      ...(arrivals === null ? [] : [arrivals.descriptor]),
    ];
    const child = fork(entry, [], { serialization: 'advanced', execArgv: [], stdio: stdio as StdioOptions });
    this.#process = child;
    child.on('message', (message: EngineMessage) => this.#receive(message));
    // Without a listener a failed fork or send would end the server; the exit that follows is what counts.
    child.on('error', (error) => {
      this.#lastWords ??= { reason: 'EngineFault', message: `the engine process: ${error.message}` };
    });
    child.on('exit', (code, signal) => this.#ended(child, signal ?? `exit code ${code ?? 'unknown'}`));
    this.#send({
      type: 'start',
      settings: this.#settings,
      arrivals: arrivals === null ? null : { ...arrivals, descriptor: inheritedArrivals },
    });
  }

  #receive(message: EngineMessage): void {
    this.#sawLife();
    this.#alive = true;
    switch (message.type) {
      case 'progress':
        if (this.#state.kind === 'loading' || this.#state.kind === 'restarting') {
          const { bytesDone, bytesTotal } = message;
          this.#state = { ...this.#state, loaded: { bytesDone, bytesTotal } };
        }
        return;
      case 'ready':
        void this.#readyIfSound(message);
        return;
      case 'failed':
        this.#lastWords = message.failure;
        return;
      case 'heartbeat':
        if (message.stepAgeMs !== null && message.stepAgeMs > this.#limits.step) {
          this.#kill(`a step has run for ${Math.round(message.stepAgeMs / 1000)} s`);
        }
        return;
      case 'step':
        this.#stats = message.stats;
        for (const update of message.updates) this.#update(update);
    }
  }

  #update(update: SequenceUpdate): void {
    this.#flights.update(update);
    const { id, failure, finish } = update;
    if (isSelfCheck(id)) return;
    if (failure?.reason === 'EngineNumericalFault') this.#numericalFault(id, failure);
    else if (finish !== null) this.#numbers.answered();
  }

  #numericalFault(id: string, cause: Failure): void {
    this.#logger.error('numerical fault', { id, cause });
    if (this.#numbers.faulted(cause) && this.#state.kind === 'ready') {
      void this.#giveUpIfUnsound(this.#state.info.vocabSize);
    }
  }

  async #readyIfSound(message: Ready): Promise<void> {
    if (await this.#giveUpIfUnsound(message.info.vocabSize)) this.#ready(message);
  }

  /** Asks the engine itself; false when it was given up, or lost meanwhile. */
  async #giveUpIfUnsound(vocabSize: number): Promise<boolean> {
    const child = this.#process;
    const failures = await Promise.all(selfCheckRequests(vocabSize).map((each) => this.#check(each)));
    if (child !== this.#process) return false;
    const [failure] = failures;
    if (failures.every((each) => each?.reason === 'EngineNumericalFault') && failure != null) {
      const message = `the engine answers no request soundly, not even of one token: ${failure.message}`;
      this.#lastWords ??= { ...failure, message };
      child?.kill('SIGKILL');
      return false;
    }
    this.#numbers.answered();
    return true;
  }

  /** Why a question of our own was not answered; null: it was. */
  async #check(request: GenerateRequest): Promise<Failure | null> {
    try {
      const outputs = this.#flights.open(request, new AbortController().signal, true);
      for await (const { finish } of outputs) if (finish !== null) break;
      return null;
    } catch (error) {
      return failureOf(error);
    }
  }

  #ready({ info, numBlocks, maxModelLen }: Ready): void {
    if (this.#state.kind === 'stopped') return;
    this.#state = { kind: 'ready', info, numBlocks, maxModelLen };
    this.#readyAt = performance.now();
    this.#logger.info('engine ready', { pid: this.#process?.pid, numBlocks, maxModelLen });
    this.#flights.sendAll();
    this.#settled();
  }

  #ended(child: ChildProcess, how: string): void {
    if (child !== this.#process) return;
    this.#process = null;
    this.#stats = null;
    if (this.#state.kind === 'stopped') return;
    const served = this.#state.kind === 'ready';
    const cause = this.#lastWords ?? { reason: 'EngineFault', message: `the engine process ended: ${how}` };
    if (!served && (this.#state.kind === 'loading' || cause.reason !== 'EngineFault')) {
      this.#state = { kind: 'failed', failure: cause };
      this.#logger.error('engine failed', { cause });
      this.#flights.fail(cause, 'all');
      this.#settled();
      return;
    }
    if (served && performance.now() - this.#readyAt > this.#limits.healthy) this.#lossesInARow = 0;
    this.#state = { kind: 'restarting', cause, loaded: { bytesDone: 0, bytesTotal: 0 } };
    this.#flights.fail(cause, 'sent');
    this.#restarts++;
    const delay =
      this.#lossesInARow === 0 ? 0 : Math.min(this.#limits.backOff, 500 * 2 ** this.#lossesInARow);
    this.#lossesInARow++;
    this.#logger.error('engine lost, starting it again', { cause, restarts: this.#restarts, delayMs: delay });
    this.#restartTimer = setTimeout(() => this.#launch(), delay);
  }

  #killIfHung(): void {
    if (this.#process === null) return;
    const silentMs = ++this.#silentLooks * lookEveryMs;
    const { heartbeat, firstHeartbeat } = this.#limits;
    if (silentMs > (this.#alive ? heartbeat : firstHeartbeat)) {
      this.#kill(`no sign of life for ${Math.round(silentMs / 1000)} s`);
    }
  }

  #sawLife(): void {
    this.#lastSignAt = performance.now();
    this.#silentLooks = 0;
  }

  #kill(why: string): void {
    this.#lastWords ??= { reason: 'EngineFault', message: `the engine process was killed: ${why}` };
    this.#process?.kill('SIGKILL');
  }

  #send(message: ServerMessage): void {
    // The channel may close under us; the exit event tells what happened.
    if (this.#process?.connected === true) this.#process.send(message, () => undefined);
  }
}

const stopped: Failure = { reason: 'EngineFault', message: 'the server is shutting down' };
