// One engine process as the server holds it, from its fork to its exit: what it reports, its signs of life, and why it
// ended. One that hangs is killed. Its successor is another EngineChild: nothing of it is left over.

import type { Failure } from '@llmservice/crds';
import type { ArrivalMap } from '@llmservice/native';
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../config/child-environment.js';
import { execArguments } from './exec-arguments.js';
import { inheritedStdio } from './inherited-stdio.js';
import type { EngineAdapter, EngineMessage, EngineSettings, ServerMessage } from './protocol.js';
import { ucxVariables } from './ucx-variables.js';

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = fileURLToPath(new URL('../../dist/engine/engine-process.js', import.meta.url));

/** Where the engine process finds what of the weights is on disk: after the standard streams and the channel. */
const inheritedArrivals = 4;

/** Else CUDA loads a kernel's code at its first launch, into memory that the device may not have left by then. */
const eager = { CUDA_MODULE_LOADING: 'EAGER' };

const lookEveryMs = 500;

/** Times in milliseconds. */
export interface ChildLimits {
  /** Without a sign of life for this long the process is killed. */
  readonly heartbeat: number;
  /** The same until the first sign, which comes once the process has started. */
  readonly firstHeartbeat: number;
  /** A step that runs longer hangs. */
  readonly step: number;
  /** From asking the process to end to killing it. */
  readonly shutdown: number;
}

/** What it reports of its work. */
export type EngineNews = Exclude<EngineMessage, { readonly type: 'failed' | 'heartbeat' }>;

interface Listener {
  /** In the order in which it was sent. */
  readonly news: (news: EngineNews) => void;
  /** Once. */
  readonly ended: (cause: Failure) => void;
}

export class EngineChild {
  readonly #process: ChildProcess;
  readonly #limits: ChildLimits;
  readonly #listener: Listener;
  readonly #watch: NodeJS.Timeout;
  #lastSignAt = performance.now();
  /** Looks since the last sign of life. When this process stalled too, it did not look. */
  #silentLooks = 0;
  /** Whether it has given a sign of life. */
  #alive = false;
  /** Why it was killed or ended itself, when that is known before its exit is. */
  #lastWords: Failure | null = null;

  /**
   * @param arrivals what of the weights is on disk while they are still pulled; null: all
   * @param adapters to be loaded before it is ready
   */
  constructor(
    settings: EngineSettings,
    arrivals: ArrivalMap | null,
    limits: ChildLimits,
    listener: Listener,
    adapters: readonly EngineAdapter[],
  ) {
    this.#limits = limits;
    this.#listener = listener;
    const inherited = arrivals === null ? [] : [arrivals.descriptor];
    const standard = ['inherit', 'inherit', 'inherit', 'ipc'] as const;
    const stdio = inheritedStdio([...standard, ...inherited], settings.openFiles);
    const env = { ...eager, ...ucxVariables(settings), ...childEnvironment(process.env) };
    this.#process = fork(entry, [], { serialization: 'advanced', execArgv: [...execArguments], stdio, env });
    this.#process.on('message', (message: EngineMessage) => this.#receive(message));
    // Without a listener a failed fork or send would end the server. An exit follows, but where no process came to be.
    this.#process.on('error', (error) => {
      this.#lastWords ??= { reason: 'EngineFault', message: `the engine process: ${error.message}` };
      if (this.pid === null) this.#exited('EngineFault', error.message);
    });
    // ROCm ends a process whose kernels touch memory that is not theirs; CUDA leaves it to the process.
    this.#process.on('exit', (code, signal) =>
      this.#exited(
        settings.accelerator === 'hip' && signal === 'SIGABRT' ? 'DeviceFault' : 'EngineFault',
        signal ?? `exit code ${code ?? 'unknown'}`,
      ),
    );
    this.#watch = setInterval(() => this.#killIfHung(), lookEveryMs);
    this.send({
      type: 'start',
      settings,
      arrivals: arrivals === null ? null : { ...arrivals, descriptor: inheritedArrivals },
      adapters,
    });
  }

  get pid(): number | null {
    return this.#process.pid ?? null;
  }

  /** Milliseconds since the last sign of life. */
  get silentMs(): number {
    return Math.round(performance.now() - this.#lastSignAt);
  }

  send(message: ServerMessage): void {
    // The channel may close under us; the exit event says what happened.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  kill(why: Failure): void {
    this.#lastWords ??= why;
    this.#process.kill('SIGKILL');
  }

  /** Asks it to end; resolves when it has. */
  async shutdown(): Promise<void> {
    clearInterval(this.#watch);
    if (this.pid === null) return;
    const exited = new Promise<void>((resolve) => this.#process.once('exit', () => resolve()));
    this.send({ type: 'shutdown' });
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), this.#limits.shutdown);
    await exited;
    clearTimeout(kill);
  }

  #receive(message: EngineMessage): void {
    this.#lastSignAt = performance.now();
    this.#silentLooks = 0;
    this.#alive = true;
    switch (message.type) {
      case 'failed':
        this.#lastWords = message.failure;
        return;
      case 'heartbeat':
        if (message.stepAgeMs !== null && message.stepAgeMs > this.#limits.step)
          this.#killHung(`a step has run for ${Math.round(message.stepAgeMs / 1000)} s`);
        return;
      default:
        this.#listener.news(message);
    }
  }

  #killIfHung(): void {
    const silentMs = ++this.#silentLooks * lookEveryMs;
    const { heartbeat, firstHeartbeat } = this.#limits;
    if (silentMs > (this.#alive ? heartbeat : firstHeartbeat))
      this.#killHung(`no sign of life for ${Math.round(silentMs / 1000)} s`);
  }

  #killHung(how: string): void {
    this.kill({ reason: 'EngineFault', message: `the engine process was killed: ${how}` });
  }

  #exited(reason: 'DeviceFault' | 'EngineFault', how: string): void {
    clearInterval(this.#watch);
    this.#listener.ended(this.#lastWords ?? { reason, message: `the engine process ended: ${how}` });
  }
}
