// The engine process's side of the process that grammars are compiled in. One that is lost or stalls is replaced:
// what it was at fails as lost, and may be asked for again.

import {
  makeMemoryFile,
  type CompileLimits,
  type CompileOutcome,
  type GrammarKind,
  type Vocabulary,
} from '@llmservice/native';
import { fork, type ChildProcess } from 'node:child_process';
import { ftruncateSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../config/child-environment.js';
import { lowerPriority } from '../lower-priority.js';
import { processorMs } from '../processor-time.js';
import { execArguments } from './exec-arguments.js';
import { RestartBackOff } from './restart-back-off.js';
import { StallWatch } from './stall-watch.js';

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = fileURLToPath(new URL('../../dist/engine/grammar-process.js', import.meta.url));

/** Where its process finds the first file: after the standard streams and the channel. */
const firstInherited = 4;
const lookEveryMs = 1000;
/** Times in milliseconds. */
const backOff = { backOff: 30_000, healthy: 60_000 };

/** What outgrows both counts as slow: what is small stays small where others have the processors. */
export type ShortTime = Pick<CompileLimits, 'wallSeconds' | 'cpuSeconds'>;

export type CompileRequest =
  | { readonly type: 'vocabulary'; readonly vocabulary: Vocabulary }
  | {
      readonly type: 'compile';
      readonly place: number;
      readonly kind: GrammarKind;
      readonly text: string;
      readonly file: number;
      readonly limits: CompileLimits;
      readonly short: ShortTime;
    }
  | { readonly type: 'kill'; readonly place: number };

export type CompilerMessage =
  | { readonly type: 'alive' }
  | { readonly type: 'outgrew'; readonly place: number }
  | { readonly type: 'ended'; readonly place: number; readonly outcome: CompileOutcome };

export interface CompiledApart extends CompileOutcome {
  /** Of a compiled one: what `GrammarCompiler.read` takes, until `release`. */
  readonly file: number;
}

interface Place {
  readonly file: number;
  /** While something is compiled there. */
  work: Work | null;
}

interface Work {
  readonly request: CompileRequest;
  readonly outgrew: () => void;
  readonly ended: (outcome: CompileOutcome) => void;
  /** Not while its process is being replaced. */
  isSent: boolean;
}

export class CompileProcesses {
  readonly #limits: CompileLimits;
  readonly #short: ShortTime;
  /** Of each that runs at once. */
  readonly #places: readonly Place[];
  #vocabulary: Vocabulary | null = null;
  #process: ChildProcess | null = null;
  #startedAt = 0;
  #stall: StallWatch | null = null;
  readonly #backOff = new RestartBackOff(backOff);

  constructor(atOnce: number, limits: CompileLimits, short: ShortTime) {
    this.#limits = limits;
    this.#short = short;
    this.#places = Array.from({ length: atOnce }, () => ({ file: makeMemoryFile(), work: null }));
    this.#start();
    setInterval(() => this.#look(), lookEveryMs);
  }

  /** Before the first `compile`. */
  use(vocabulary: Vocabulary): void {
    this.#vocabulary = vocabulary;
    this.#send({ type: 'vocabulary', vocabulary });
  }

  /**
   * @param place from 0, below `atOnce`; nothing else may be at it
   * @param outgrew called once it has outgrown the short time
   */
  async compile(place: number, kind: GrammarKind, text: string, outgrew: () => void): Promise<CompiledApart> {
    const at = this.#at(place);
    const outcome = await new Promise<CompileOutcome>((resolve) => {
      const file = firstInherited + place;
      const [limits, short] = [this.#limits, this.#short];
      const request = { type: 'compile', place, kind, text, file, limits, short } as const;
      at.work = { request, outgrew, ended: resolve, isSent: this.#send(request) };
    });
    return { ...outcome, file: at.file };
  }

  kill(place: number): void {
    if (this.#at(place).work?.isSent === false) this.#end(place, { end: 'killed', message: '', bytes: 0 });
    else this.#send({ type: 'kill', place });
  }

  /** Gives back the memory of what was compiled there. */
  release(place: number): void {
    ftruncateSync(this.#at(place).file, 0);
  }

  #at(place: number): Place {
    const at = this.#places[place];
    if (at === undefined) throw new Error(`there is no place ${String(place)} to compile at`);
    return at;
  }

  #start(): void {
    try {
      this.#process = this.#fork();
    } catch (error) {
      // Node throws some of the reasons why a process cannot be made, and reports others later.
      this.#startLater(0, unstarted(error));
      return;
    }
    this.#startedAt = performance.now();
    const { pid } = this.#process;
    this.#stall = new StallWatch(() => (pid === undefined ? null : processorMs(pid)));
    if (this.#vocabulary !== null) this.use(this.#vocabulary);
    for (const { work } of this.#places) if (work?.isSent === false) work.isSent = this.#send(work.request);
  }

  #fork(): ChildProcess {
    const files = this.#places.map(({ file }) => file);
    const child = fork(entry, [], {
      serialization: 'advanced',
      execArgv: [...execArguments],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...files],
      env: childEnvironment(process.env),
    });
    lowerPriority(child.pid);
    child.on('message', (message: CompilerMessage) => {
      // What was lost may still be heard.
      if (child !== this.#process) return;
      this.#stall?.heard();
      if (message.type === 'ended') this.#end(message.place, message.outcome);
      if (message.type === 'outgrew') this.#at(message.place).work?.outgrew();
    });
    // A process that never came to be has no exit.
    child.on('error', (error) => this.#lost(child, child.pid === undefined ? unstarted(error) : lost));
    child.on('exit', () => this.#lost(child, lost));
    return child;
  }

  #send(message: CompileRequest): boolean {
    const child = this.#process;
    if (child?.connected !== true) return false;
    // It may end under us; its exit event says so.
    child.send(message, () => undefined);
    return true;
  }

  #end(place: number, outcome: CompileOutcome): void {
    const at = this.#at(place);
    const { work } = at;
    at.work = null;
    work?.ended(outcome);
  }

  /** Looks that this process did not take, since it stalled itself, do not count. */
  #look(): void {
    if (this.#stall?.look() === true) this.#process?.kill('SIGKILL');
  }

  #lost(child: ChildProcess, outcome: CompileOutcome): void {
    if (child !== this.#process) return;
    this.#process = null;
    this.#startLater(performance.now() - this.#startedAt, outcome);
  }

  #startLater(servedMs: number, outcome: CompileOutcome): void {
    setTimeout(() => this.#start(), this.#backOff.delayAfter(servedMs));
    this.#places.forEach((_, place) => this.#end(place, outcome));
  }
}

const lost: CompileOutcome = { end: 'lost', message: 'the process that compiles was lost', bytes: 0 };
const unstarted = (error: unknown): CompileOutcome => ({
  ...lost,
  message: `the process that compiles cannot be started: ${(error as Error).message}`,
});
